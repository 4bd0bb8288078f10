import { CommandBus, type Command as BusCommand } from '@nestjs/cqrs';
import type { Command } from 'commander';
import {
  changeOutcome,
  parseId,
  operate,
  withNotice,
  type Operator,
  type Outcome,
} from '../../../platform/operator/operator.js';
import {
  IssueSecret,
  SetAddresses,
  type CredentialChanged,
  type IssuedSecret,
} from '../application/credentials.js';
import { KINDS, type CredentialKind } from '../domain/credential.js';
import type { SecretRow } from '../views/directory.js';

/** What operators call the secret of a kind, and its member in JSON. */
const SECRETS = {
  api_key: { secret: 'private key', id: 'key id', member: 'private_key' },
  exchange_key: { secret: 'secret', id: 'secret id', member: 'secret' },
} as const;

/** The commands of every kind of credential, and their output. */
export class CredentialCommands {
  constructor(
    private readonly program: Command,
    private readonly operator: Operator,
    private readonly kind: CredentialKind,
  ) {}

  /** `command` with its arguments, the first of which is the id of the credential. */
  change(
    command: string,
    description: string,
    done: string | ((...others: string[]) => string),
    of: (id: string, ...others: string[]) => BusCommand<CredentialChanged>,
  ): void {
    this.program
      .command(command)
      .description(description)
      .action(
        operate(this.operator, async (context, id, ...others) => {
          const change = await context.get(CommandBus).execute(of(this.id(id), ...others));
          return changeOutcome(typeof done === 'string' ? done : done(...others), change);
        }),
      );
  }

  issueSecret(command: string, description: string): void {
    const done = `Issued a ${SECRETS[this.kind].secret}; revoke the old one when it is out of use`;
    this.program
      .command(command)
      .description(description)
      .action(
        operate(this.operator, async (context, id) =>
          this.issued(
            `${done}\n\n`,
            await context.get(CommandBus).execute(new IssueSecret(this.kind, this.id(id))),
          ),
        ),
      );
  }

  setAddresses(command: string, description: string): void {
    const cleared = 'Allow list cleared: requests from anywhere are let in';
    this.change(
      command,
      description,
      (...cidrs) => (cidrs.length === 0 ? cleared : 'Allow list set'),
      (id, ...cidrs) => new SetAddresses(this.kind, id, cidrs),
    );
  }

  /** The output of a new secret, after `text` and `json`. */
  issued(text: string, { secretId, secret, visible }: IssuedSecret, json: object = {}): Outcome {
    const words = SECRETS[this.kind];
    const lines = [
      line(words.secret, secret),
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
