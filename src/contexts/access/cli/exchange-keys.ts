import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { DomainError } from '../../../kernel/domain-error.js';
import { newId } from '../../../kernel/ids.js';
import {
  changeOutcome,
  parseId,
  cliAction,
  secondsOf,
  type CliContext,
} from '../../../platform/cli/cli-context.js';
import { writes } from '../../../platform/cli/write.js';
import {
  RevokeCredential,
  RollCredential,
  type CredentialSubject,
} from '../application/credential-commands.js';
import { RestrictKey, SetKeyPage } from '../application/key-commands.js';
import { KIND_RULES, type MemoSigning } from '../domain/credential-kinds.js';
import { logoOf } from '../domain/pay-page.js';
import { findKey, findKeys, type ExchangeKeyRow } from './rows.js';
import {
  allowed,
  CredentialCommands,
  isVisible,
  line,
  secretLines,
  secretsJson,
  validity,
} from './credentials.js';

const MAX_OVERLAP_SECONDS = 604_800;

/** `exchange key ...`: the API keys of the exchange. */
export function exchangeKeyCommands(program: Command, cli: CliContext): void {
  const key = program.command('key').description('issue, list, rotate, restrict and revoke API keys');
  const commands = new CredentialCommands(key, cli, 'exchange');

  const issue = key
    .command('issue')
    .description('issue a key of a merchant and show its secret, once')
    .requiredOption('--merchant <merchant-id>', 'the merchant whom it belongs to')
    .option('--demand-signature', 'refuse requests for an address that is not signed', false)
    .option(
      '--memo-signing <form>',
      'what a tag or memo needs: contract, or full, a signature_v2',
      'contract',
    )
    .option('--label <text>', 'what operators call the key');
  writes(issue, cli, async function (context, write) {
    const { merchant, demandSignature, memoSigning, label = '' } = this.opts<IssueOptions>();
    const id = newId();
    const keyId = KIND_RULES.exchange.deriveKeyId(id, '', null);
    const text = `Issued a key that ${demands({ demandsSignature: demandSignature, memoSigning })}\n\n${line('api_key', keyId)}\n`;
    const order = {
      merchantId: parseId(merchant, 'Merchant'),
      id,
      name: label,
      api_key: keyId,
      demands_signing: demandSignature,
      memo_signing: memoSigning,
    };
    return commands.issue(context, write, text, order, { api_key: keyId });
  });

  key
    .command('list')
    .description('list keys; secrets are never displayed again')
    .option('--merchant <merchant-id>', 'those of one merchant')
    .action(
      cliAction(cli, async function (context) {
        const { merchant } = this.opts<Partial<IssueOptions>>();
        const id = merchant === undefined ? null : parseId(merchant, 'Merchant');
        const keys = await findKeys(context, id);
        return {
          text: keys.map(keyText).join('\n\n') || 'No keys',
          json: { keys: keys.map(keyJson) },
          displays: { subject: 'credentials', merchantIds: keys.map(({ merchantId }) => merchantId) },
        };
      }),
    );

  const rotate = key
    .command('rotate <api-key>')
    .description('issue a secret that replaces the one in use, and show it, once')
    .option('--overlap <duration>', 'for how long the former secret is valid, at most 7d', '24h');
  writes(rotate, cli, async function (context, write, id) {
    const { overlap } = this.opts<{ overlap: string }>();
    const { keyId, merchantId, secrets } = await findKey(context, commands.id(id));
    const left = secrets.filter(({ revokedAt }) => revokedAt === null);
    // One that is rolling is replaced again if its replacement is revoked.
    const former = left.findLast(({ rollingUntil }) => rollingUntil === null) ?? left.at(-1);
    if (former === undefined) throw new DomainError('invalid_transition', 'The key is revoked');
    const overlap_seconds = secondsOf(overlap, '--overlap', MAX_OVERLAP_SECONDS);
    const roll = new RollCredential(former.secretId, { ...subject(keyId, merchantId), overlap_seconds });
    const issued = await write(roll, merchantId);
    const done = `Issued a secret; the former one is valid for ${overlap}: revoke it when it is out of use\n\n`;
    const visible = await isVisible(context);
    return commands.issued(done, { ...issued, visible });
  });
  commands.change(
    'revoke-secret <api-key> <secret-id>',
    'refuse signatures of this secret; the last one of a key stays',
    'Revoked the secret',
    async (context, id, secretId) => {
      const { keyId, merchantId, secrets } = await findKey(context, id);
      const valid = secrets.filter(({ isValid }) => isValid).map((secret) => secret.secretId);
      if (valid.length === 1 && valid[0] === secretId)
        throw new DomainError(
          'invalid_transition',
          'It is the last secret: rotate the key first, or revoke it',
        );
      if (!secrets.some((secret) => secret.secretId === secretId)) throw DomainError.notFound('Secret');
      const revoke = new RevokeCredential(parseId(secretId, 'Secret'), subject(keyId, merchantId));
      return [revoke, merchantId];
    },
  );
  writes(
    key.command('revoke <api-key>').description('refuse every request with this key, for good'),
    cli,
    async (context, write, id) => {
      const { keyId, merchantId, secrets } = await findKey(context, commands.id(id));
      const left = secrets.filter(({ revokedAt }) => revokedAt === null);
      // The key ends with its last valid secret.
      for (const { secretId } of left.toSorted((a, b) => Number(a.isValid) - Number(b.isValid)))
        await write(new RevokeCredential(secretId, subject(keyId, merchantId)), merchantId);
      return changeOutcome('Revoked the key', { visible: await isVisible(context) });
    },
  );
  commands.change(
    'allow <api-key> [cidrs...]',
    'refuse requests from outside these addresses and ranges with 403; none: anywhere',
    (...cidrs) => allowed(cidrs),
    async (context, id, ...addresses) => {
      const { keyId, merchantId } = await findKey(context, id);
      return [new RestrictKey(keyId, { ...owner(merchantId), addresses }), merchantId];
    },
  );

  const page = key
    .command('page <api-key>')
    .description('set what the pay page of the key displays; an option that is left out is cleared')
    .option('--logo <file>', 'a PNG or WebP of at most 16 KiB')
    .option('--help-url <url>', 'where a customer finds help')
    .option('--terms-url <url>', 'the terms of the merchant');
  writes(page, cli, async function (context, write, id) {
    const { logo, helpUrl = null, termsUrl = null } = this.opts<Partial<PageOptions>>();
    const settings = { logo: logo === undefined ? null : logoOf(read(logo)), helpUrl, termsUrl };
    const { keyId, merchantId } = await findKey(context, commands.id(id));
    await write(new SetKeyPage(keyId, { ...owner(merchantId), page: settings }), merchantId);
    return changeOutcome('Pay page set', { visible: await isVisible(context) });
  });
}

function owner(merchantId: string) {
  return { merchant_id: merchantId, operator_id: null };
}

/** What operations on a secret of a key are recorded with. */
function subject(keyId: string, merchantId: string): CredentialSubject {
  return { kind: 'exchange', ...owner(merchantId), api_key: keyId };
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
  const { logo, helpUrl, termsUrl } = row.page;
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
    pay_page: { has_logo: row.page.logo !== null, help_url: row.page.helpUrl, terms_url: row.page.termsUrl },
    issued_at: row.issuedAt,
    revoked_at: row.revokedAt,
    secrets: secretsJson('exchange', row.secrets),
  };
}
