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
import { IssueCredential, plainOrder, type IssueParameters } from '../application/credential-commands.js';
import type { IssuedCredential } from '../application/credential-secrets.js';
import { DIRECTORY_VIEW } from '../views/directory-projection.js';
import type { SecretRow } from './rows.js';

/** What operators call the secret of a kind, and its members in JSON. */
const SECRETS = {
  payouts: {
    title: 'Merchant',
    secret: 'private key',
    id: 'key id',
    member: 'private_key',
    idMember: 'key_id',
  },
  exchange: { title: 'Key', secret: 'secret', id: 'secret id', member: 'secret', idMember: 'secret_id' },
} as const;
type PrintedKind = keyof typeof SECRETS;

/** Waits until the change is effective in this database; false where no worker runs. */
export async function isVisible(context: INestApplicationContext): Promise<boolean> {
  return context.get(SubscriptionProgress).waitUntilCurrent(DIRECTORY_VIEW);
}

/** The commands of every kind of credential, and their output. */
export class CredentialCommands {
  constructor(
    private readonly program: Command,
    private readonly cli: CliContext,
    private readonly kind: PrintedKind,
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
    }: {
      readonly merchantId: string;
      readonly id?: string;
      readonly name: string;
    } & Partial<IssueParameters>,
    json: object = {},
  ): Promise<CliOutcome> {
    const { id = newId(), ...given } = rest;
    const parameters = plainOrder({ kind: this.kind, merchant_id: merchantId, ...given });
    const issued = await write(new IssueCredential(id, parameters), merchantId);
    return this.issued(text, { ...issued, visible: await isVisible(context) }, json);
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
      json: { ...json, [words.idMember]: secretId, [words.member]: secret, visible },
    };
  }

  id(text: string | undefined): string {
    return parseId(text, SECRETS[this.kind].title);
  }
}

export function secretLines(title: string, secrets: readonly SecretRow[]): string[] {
  return secrets.map(({ secretId, issuedAt, revokedAt }) =>
    line(title, `${secretId}  issued ${issuedAt.toISOString()}  ${validity(revokedAt)}`),
  );
}

export function secretsJson(kind: PrintedKind, secrets: readonly SecretRow[]): object[] {
  const name = SECRETS[kind].idMember;
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
