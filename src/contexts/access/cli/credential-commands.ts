import { CommandBus } from '@nestjs/cqrs';
import type { Command } from 'commander';
import { DomainError } from '../../../kernel/domain-error.js';
import { isUuid } from '../../../kernel/ids.js';
import { changed, operate, withNotice, type Operator } from '../../../platform/operator/operator.js';
import { IssueSecret, RevokeSecret, SetAddresses } from '../application/credential-commands.js';
import type { IssuedSecret } from '../application/credentials.js';
import { KINDS, type CredentialKind } from '../domain/credential.js';
import type { SecretRow } from '../views/directory.js';

/** What a command of one kind is called, and what it says of itself. */
interface Words {
  readonly kind: CredentialKind;
  /** The command with its arguments, `issue-key <merchant-id>`. */
  readonly command: string;
  readonly description: string;
}

/** What operators call the secret of a kind. */
const SECRETS = {
  api_key: { title: 'private key', id: 'key id', json: 'private_key' },
  exchange_key: { title: 'secret', id: 'secret id', json: 'secret' },
} as const;

/** Issues a second secret for a rotation. */
export function issueSecretCommand(program: Command, operator: Operator, words: Words): void {
  const { kind, command, description } = words;
  program
    .command(command)
    .description(description)
    .action(
      operate(operator, async (context, id) => {
        const issued = await context.get(CommandBus).execute(new IssueSecret(kind, credentialId(kind, id)));
        const { title } = SECRETS[kind];
        const text = `Issued a ${title}; revoke the old one when it is out of use\n\n${secretText(kind, issued)}`;
        return { text: withNotice(text, issued), json: secretJson(kind, issued) };
      }),
    );
}

export function revokeSecretCommand(
  program: Command,
  operator: Operator,
  { kind, command, description, done }: Words & { readonly done: string },
): void {
  program
    .command(command)
    .description(description)
    .action(
      operate(operator, async (context, id, secretId = '') =>
        changed(
          done,
          await context.get(CommandBus).execute(new RevokeSecret(kind, credentialId(kind, id), secretId)),
        ),
      ),
    );
}

export function setAddressesCommand(program: Command, operator: Operator, words: Words): void {
  const { kind, command, description } = words;
  program
    .command(command)
    .description(description)
    .action(async function (this: Command, id: string, cidrs: string[]) {
      await operate(operator, async (context) =>
        changed(
          cidrs.length === 0 ? 'Allow list cleared: requests from anywhere are let in' : 'Allow list set',
          await context.get(CommandBus).execute(new SetAddresses(kind, credentialId(kind, id), cidrs)),
        ),
      ).call(this);
    });
}

/** Throws `not_found` for what is no id. */
export function credentialId(kind: CredentialKind, text: string | undefined): string {
  if (!isUuid(text)) throw DomainError.notFound(KINDS[kind].title);
  return text.toLowerCase();
}

export function secretText(kind: CredentialKind, { secretId, secret }: IssuedSecret): string {
  const { title, id } = SECRETS[kind];
  return `${line(title, secret)}\n${line(id, secretId)}\n\nThe ${title} is shown this once: keep it safe.`;
}

export function secretJson(kind: CredentialKind, { secretId, secret, visible }: IssuedSecret): object {
  return { [KINDS[kind].secretId]: secretId, [SECRETS[kind].json]: secret, visible };
}

/** The secrets that a credential has or had, without them. */
export function secretLines(title: string, secrets: readonly SecretRow[]): string[] {
  return secrets.map(({ secretId, issuedAt, revokedAt }) =>
    line(title, `${secretId}  issued ${issuedAt.toISOString()}  ${validity(revokedAt)}`),
  );
}

export function secretsJson(kind: CredentialKind, secrets: readonly SecretRow[]): object[] {
  return secrets.map(({ secretId, issuedAt, revokedAt }) => ({
    [KINDS[kind].secretId]: secretId,
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
