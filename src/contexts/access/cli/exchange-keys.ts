import { readFileSync } from 'node:fs';
import { CommandBus } from '@nestjs/cqrs';
import type { Command } from 'commander';
import { DomainError } from '../../../kernel/domain-error.js';
import { changeOutcome, parseId, operate, type Operator } from '../../../platform/operator/operator.js';
import { RevokeSecret } from '../application/credentials.js';
import {
  IssueExchangeKey,
  RevokeExchangeKey,
  SetExchangeKeyPage,
} from '../application/exchange-key-commands.js';
import { logoOf, type MemoSigning } from '../domain/exchange-key.js';
import { DirectoryView, type ExchangeKeyRow } from '../views/directory.js';
import { CredentialCommands, line, secretLines, secretsJson, validity } from './credentials.js';

/** `exchange key ...`: the API keys of the exchange. */
export function exchangeKeyCommands(program: Command, operator: Operator): void {
  const key = program.command('key').description('issue, list, rotate, restrict and revoke API keys');
  const commands = new CredentialCommands(key, operator, 'exchange_key');

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
    .action(
      operate(operator, async function (context) {
        const { merchant, demandSignature, memoSigning, label } = this.opts<IssueOptions>();
        const command = new IssueExchangeKey(merchant, demandSignature, label ?? null, memoSigning);
        const issued = await context.get(CommandBus).execute(command);
        const text = `Issued a key that ${demands(command)}\n\n${line('api_key', issued.keyId)}\n`;
        return commands.issued(text, issued, { api_key: issued.keyId });
      }),
    );

  key
    .command('list')
    .description('list keys; secrets are never displayed again')
    .option('--merchant <merchant-id>', 'those of one merchant')
    .action(
      operate(operator, async function (context) {
        const { merchant } = this.opts<Partial<IssueOptions>>();
        const id = merchant === undefined ? null : parseId(merchant, 'Merchant');
        const keys = await context.get(DirectoryView).exchangeKeys(id);
        return { text: keys.map(keyText).join('\n\n') || 'No keys', json: { keys: keys.map(keyJson) } };
      }),
    );

  commands.issueSecret(
    'rotate <api-key>',
    'issue a second secret alongside the one in use, and show it, once',
  );
  commands.change(
    'revoke-secret <api-key> <secret-id>',
    'refuse signatures of this secret; the last one of a key stays',
    'Revoked the secret',
    (id, secretId) => new RevokeSecret('exchange_key', id, secretId!),
  );
  commands.change(
    'revoke <api-key>',
    'refuse every request with this key, for good',
    'Revoked the key',
    (id) => new RevokeExchangeKey(id),
  );
  commands.setAddresses(
    'allow <api-key> [cidrs...]',
    'refuse requests from outside these addresses and ranges with 403; none: anywhere',
  );

  key
    .command('page <api-key>')
    .description('set what the pay page of the key displays; an option that is left out is cleared')
    .option('--logo <file>', 'a PNG or WebP of at most 16 KiB')
    .option('--help-url <url>', 'where a customer finds help')
    .option('--terms-url <url>', 'the terms of the merchant')
    .action(
      operate(operator, async function (context, id) {
        const { logo, helpUrl = null, termsUrl = null } = this.opts<Partial<PageOptions>>();
        const page = { logo: logo === undefined ? null : logoOf(read(logo)), helpUrl, termsUrl };
        const command = new SetExchangeKeyPage(commands.id(id), page);
        return changeOutcome('Pay page set', await context.get(CommandBus).execute(command));
      }),
    );
}

interface IssueOptions {
  readonly merchant: string;
  readonly demandSignature: boolean;
  readonly memoSigning: MemoSigning;
  readonly label?: string;
}

type PageOptions = Readonly<Record<'logo' | 'helpUrl' | 'termsUrl', string>>;

function read(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch {
    throw DomainError.invalid({ logo: [`${file} cannot be read`] });
  }
}

function demands({
  demandsSignature,
  memoSigning,
}: Pick<ExchangeKeyRow, 'demandsSignature' | 'memoSigning'>) {
  if (!demandsSignature) return 'demands no signatures';
  return memoSigning === 'full' ? 'demands signatures, full ones for a tag or memo' : 'demands signatures';
}

function keyText(row: ExchangeKeyRow): string {
  const { logo, helpUrl, termsUrl } = row;
  return [
    `${row.keyId}  ${row.label ?? ''}`.trimEnd(),
    line('merchant', row.merchantId),
    line('status', `${validity(row.revokedAt)}, ${demands(row)}`),
    line('issued', row.issuedAt.toISOString()),
    line('allowed IPs', row.cidrs.join(', ') || 'anywhere'),
    line(
      'pay page',
      `${logo === null ? 'no logo' : 'logo'}, help ${helpUrl ?? 'none'}, terms ${termsUrl ?? 'none'}`,
    ),
    ...secretLines('secret', row.secrets),
  ].join('\n');
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
    secrets: secretsJson('exchange_key', row.secrets),
  };
}
