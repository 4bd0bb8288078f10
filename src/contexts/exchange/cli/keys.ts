import { readFileSync } from 'node:fs';
import { CommandBus } from '@nestjs/cqrs';
import type { Command } from 'commander';
import { DomainError } from '../../../kernel/domain-error.js';
import { isUuid } from '../../../kernel/ids.js';
import { changed, operate, withNotice, type Operator } from '../../../platform/operator/operator.js';
import { IssueExchangeKey, type IssuedSecret } from '../application/keys/issue-exchange-key.js';
import { RevokeExchangeKey } from '../application/keys/revoke-exchange-key.js';
import { RevokeExchangeSecret } from '../application/keys/revoke-exchange-secret.js';
import { RotateExchangeKey } from '../application/keys/rotate-exchange-key.js';
import { SetExchangeKeyAddresses } from '../application/keys/set-exchange-key-addresses.js';
import type { MemoSigning } from '../domain/exchange-key.js';
import { SetExchangeKeyPage } from '../application/keys/set-exchange-key-page.js';
import { logoOf } from '../domain/pay-page-settings.js';
import { ExchangeKeysView, type ExchangeKeyRow } from '../views/keys.js';

/** `exchange key ...`: the API keys of the exchange. */
export function keyCommands(program: Command, operator: Operator): void {
  const key = program.command('key').description('issue, list, rotate, restrict and revoke API keys');

  key
    .command('issue')
    .description('issue a key of a merchant and show its secret, once')
    .requiredOption('--merchant <merchant-id>', 'the merchant whom it belongs to')
    .option('--demand-signature', 'refuse requests for an address that is not signed', false)
    .option(
      '--memo-signing <form>',
      'what a tag or memo needs: contract, or full, a signature_v2',
      'contract',
    )
    .option('--label <text>', 'what operators call the key')
    .action(async function (this: Command) {
      const { merchant, demandSignature, memoSigning, label } = this.opts<{
        merchant: string;
        demandSignature: boolean;
        memoSigning: MemoSigning;
        label?: string;
      }>();
      await operate(operator, async (context) => {
        const command = new IssueExchangeKey(merchant, demandSignature, label ?? null, memoSigning);
        const made = await context.get(CommandBus).execute(command);
        const text = `Issued a key that ${demands({ demandsSignature: demandSignature, memoSigning })}\n\n  api_key      ${made.keyId}\n${secretText(made)}`;
        return { text: withNotice(text, made), json: { api_key: made.keyId, ...secretJson(made) } };
      }).call(this);
    });

  key
    .command('list')
    .description('list keys; secrets are never shown again')
    .option('--merchant <merchant-id>', 'those of one merchant')
    .action(async function (this: Command) {
      const { merchant = null } = this.opts<{ merchant?: string }>();
      if (merchant !== null && !isUuid(merchant)) throw DomainError.notFound('Merchant');
      await operate(operator, async (context) => {
        const keys = await context.get(ExchangeKeysView, { strict: false }).list(merchant);
        return { text: keys.map(keyText).join('\n\n') || 'No keys', json: { keys: keys.map(keyJson) } };
      }).call(this);
    });

  key
    .command('rotate <api-key>')
    .description('issue a second secret beside the one in use, and show it, once')
    .action(
      operate(operator, async (context, id) => {
        const issued = await context.get(CommandBus).execute(new RotateExchangeKey(keyId(id)));
        const text = `Issued a secret; revoke the old one when it is out of use\n\n${secretText(issued)}`;
        return { text: withNotice(text, issued), json: secretJson(issued) };
      }),
    );

  key
    .command('revoke-secret <api-key> <secret-id>')
    .description('refuse signatures made with this secret; the last one of a key stays')
    .action(
      operate(operator, async (context, id, secretId) =>
        changed(
          'Revoked the secret',
          await context.get(CommandBus).execute(new RevokeExchangeSecret(keyId(id), secretId ?? '')),
        ),
      ),
    );

  key
    .command('revoke <api-key>')
    .description('refuse every request with this key, for good')
    .action(
      operate(operator, async (context, id) =>
        changed('Revoked the key', await context.get(CommandBus).execute(new RevokeExchangeKey(keyId(id)))),
      ),
    );

  key
    .command('allow <api-key> [cidrs...]')
    .description('refuse requests from outside these addresses and ranges with 403; none: anywhere')
    .action(async function (this: Command, id: string, cidrs: string[]) {
      await operate(operator, async (context) =>
        changed(
          cidrs.length === 0 ? 'Allow list cleared: requests from anywhere are let in' : 'Allow list set',
          await context.get(CommandBus).execute(new SetExchangeKeyAddresses(keyId(id), cidrs)),
        ),
      ).call(this);
    });

  key
    .command('page <api-key>')
    .description('set what the pay page of the key displays; an option that is left out is cleared')
    .option('--logo <file>', 'a PNG or WebP of at most 16 KiB')
    .option('--help-url <url>', 'where a customer finds help')
    .option('--terms-url <url>', 'the terms of the merchant')
    .action(async function (this: Command, id: string) {
      const {
        logo,
        helpUrl = null,
        termsUrl = null,
      } = this.opts<{
        logo?: string;
        helpUrl?: string;
        termsUrl?: string;
      }>();
      await operate(operator, async (context) => {
        const page = { logo: logo === undefined ? null : logoOf(read(logo)), helpUrl, termsUrl };
        const command = new SetExchangeKeyPage(keyId(id), page);
        return changed('Pay page set', await context.get(CommandBus).execute(command));
      }).call(this);
    });
}

function read(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch {
    throw DomainError.invalid({ logo: [`${file} cannot be read`] });
  }
}

function keyId(text: string | undefined): string {
  if (!isUuid(text)) throw DomainError.notFound('Key');
  return text.toLowerCase();
}

function demands({
  demandsSignature,
  memoSigning,
}: Pick<ExchangeKeyRow, 'demandsSignature' | 'memoSigning'>) {
  if (!demandsSignature) return 'demands no signatures';
  return memoSigning === 'full' ? 'demands signatures, full ones for a tag or memo' : 'demands signatures';
}

function secretText({ secretId, secret }: IssuedSecret): string {
  return `  secret       ${secret}\n  secret id    ${secretId}\n\nThe secret is shown this once: keep it safe.`;
}

function secretJson({ secretId, secret, visible }: IssuedSecret): object {
  return { secret_id: secretId, secret, visible };
}

function keyText(row: ExchangeKeyRow): string {
  const secrets = row.secrets.map(
    ({ secretId, issuedAt, revokedAt }) =>
      `  secret       ${secretId}  issued ${issuedAt.toISOString()}  ${validity(revokedAt)}`,
  );
  return [
    `${row.keyId}  ${row.label ?? ''}`.trimEnd(),
    `  merchant     ${row.merchantId}`,
    `  status       ${validity(row.revokedAt)}, ${demands(row)}`,
    `  issued       ${row.issuedAt.toISOString()}`,
    `  allowed IPs  ${row.cidrs.join(', ') || 'anywhere'}`,
    `  pay page     ${row.logo === null ? 'no logo' : 'logo'}, help ${row.helpUrl ?? 'none'}, terms ${row.termsUrl ?? 'none'}`,
    ...secrets,
  ].join('\n');
}

function validity(revokedAt: Date | null): string {
  return revokedAt === null ? 'valid' : `revoked ${revokedAt.toISOString()}`;
}

function keyJson(row: ExchangeKeyRow): object {
  return {
    api_key: row.keyId,
    merchant_id: row.merchantId,
    label: row.label,
    demands_signature: row.demandsSignature,
    memo_signing: row.memoSigning,
    allowed_addresses: row.cidrs,
    pay_page: { has_logo: row.logo !== null, help_url: row.helpUrl, terms_url: row.termsUrl },
    issued_at: row.issuedAt,
    revoked_at: row.revokedAt,
    secrets: row.secrets.map(({ secretId, issuedAt, revokedAt }) => ({
      secret_id: secretId,
      issued_at: issuedAt,
      revoked_at: revokedAt,
    })),
  };
}
