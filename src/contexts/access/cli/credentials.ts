import type { INestApplicationContext } from '@nestjs/common';
import type { Command } from 'commander';
import { newId } from '../../../kernel/ids.js';
import { SubscriptionProgress } from '../../../platform/projections/subscription-progress.js';
import { writes, type ProgramWrite, type Write } from '../../../platform/cli/write.js';
import {
  changeOutcome,
  parseId,
  withNotice,
  type CliContext,
  type CliOutcome,
} from '../../../platform/cli/cli-context.js';
import {
  IssueCredential,
  type IssuedCredential,
  type IssueParameters,
} from '../application/credential-commands.js';
import { KINDS, type CredentialKind } from '../domain/credential.js';
import { DIRECTORY_VIEW } from '../views/directory-projection.js';
import type { SecretRow } from '../views/directory.js';

/** What operators call the secret of a kind, and its member in JSON. */
const SECRETS = {
  api_key: { secret: 'private key', id: 'key id', member: 'private_key' },
  exchange_key: { secret: 'secret', id: 'secret id', member: 'secret' },
} as const;

/** Waits until the change is effective in this database; false where no worker runs. */
export async function isVisible(context: INestApplicationContext): Promise<boolean> {
  return context.get(SubscriptionProgress).waitUntilCurrent(DIRECTORY_VIEW);
}

/** What a credential of merchants is issued with, unless said otherwise. */
const PLAIN = {
  api_key: null,
  operator_id: null,
  scopes: null,
  merchants: null,
  addresses: [],
  withdraw_addresses: [],
  demands_signing: false,
  memo_signing: 'contract',
  expires_at: null,
} as const;

/** The commands of every kind of credential, and their output. */
export class CredentialCommands {
  constructor(
    private readonly program: Command,
    private readonly cli: CliContext,
    private readonly kind: CredentialKind,
  ) {}

  /** `command` with its arguments, the first of which is the id of the credential. */
  change(
    command: string,
    description: string,
    done: string | ((...others: string[]) => string),
    of: (
      context: INestApplicationContext,
      id: string,
      ...others: string[]
    ) => Promise<ProgramWrite> | ProgramWrite,
  ): void {
    writes(
      this.program.command(command).description(description),
      this.cli,
      async (context, write, id, ...others) => {
        await write(...(await of(context, this.id(id), ...others)));
        const visible = await isVisible(context);
        return changeOutcome(typeof done === 'string' ? done : done(...others), { visible });
      },
    );
  }

  /** Issues a secret of the kind and gives what is printed. Its parameters are those of `credentials.issue`. */
  async issue(
    context: INestApplicationContext,
    write: Write,
    text: string,
    {
      merchantId,
      ...rest
    }: { readonly merchantId: string; readonly name: string } & Partial<IssueParameters>,
    json: object = {},
  ): Promise<CliOutcome> {
    const kind = this.kind === 'api_key' ? 'payouts' : 'exchange';
    const parameters = { ...PLAIN, kind, merchant_id: merchantId, ...rest } as const;
    const issued = await write(new IssueCredential(newId(), parameters), merchantId);
    return this.issued(text, { ...(issued as IssuedCredential), visible: await isVisible(context) }, json);
  }

  /** The output of a new secret, after `text` and `json`. */
  issued(
    text: string,
    { credential_id: secretId, secret, visible }: IssuedCredential & { readonly visible: boolean },
    json: object = {},
  ): CliOutcome {
    const words = SECRETS[this.kind];
    const lines = [
      line(words.secret, secret ?? 'no longer kept'),
      line(words.id, secretId),
      `\nThe ${words.secret} is displayed only once: keep it safe.`,
    ];
    return {
      text: withNotice(text + lines.join('\n'), { visible }),
      json: { ...json, [KINDS[this.kind].secretId]: secretId, [words.member]: secret, visible },
    };
  }

  id(text: string | undefined): string {
    return parseId(text, KINDS[this.kind].title);
  }
}

export function secretLines(title: string, secrets: readonly SecretRow[]): string[] {
  return secrets.map(({ secretId, issuedAt, revokedAt }) =>
    line(title, `${secretId}  issued ${issuedAt.toISOString()}  ${validity(revokedAt)}`),
  );
}

export function secretsJson(kind: CredentialKind, secrets: readonly SecretRow[]): object[] {
  const name = KINDS[kind].secretId;
  return secrets.map(({ secretId, issuedAt, revokedAt }) => ({
    [name]: secretId,
    issued_at: issuedAt,
    revoked_at: revokedAt,
  }));
}

export function validity(revokedAt: Date | null): string {
  return revokedAt === null ? 'valid' : `revoked ${revokedAt.toISOString()}`;
}

export function line(title: string, text: string): string {
  return `  ${title.padEnd(11)}  ${text}`;
}

export function allowed(cidrs: readonly string[]): string {
  return cidrs.length === 0 ? 'Allow list cleared: requests from anywhere are let in' : 'Allow list set';
}
