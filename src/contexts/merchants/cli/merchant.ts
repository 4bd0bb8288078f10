import { CommandBus } from '@nestjs/cqrs';
import type { Command } from 'commander';
import { DomainError } from '../../../kernel/domain-error.js';
import { isUuid } from '../../../kernel/ids.js';
import { IssueMerchantKey } from '../application/issue-merchant-key.js';
import type { MerchantChanged } from '../application/merchant-changes.js';
import { RegisterMerchant } from '../application/register-merchant.js';
import { ReinstateMerchant } from '../application/reinstate-merchant.js';
import { RevokeMerchantKey } from '../application/revoke-merchant-key.js';
import { SetEmbedding } from '../application/set-embedding.js';
import { SetIpAllowList } from '../application/set-ip-allow-list.js';
import { SuspendMerchant } from '../application/suspend-merchant.js';
import { DirectoryView, type MerchantRow } from '../views/directory.js';
import { ConfigError } from '../../../platform/config/settings.js';
import { changed, operate, withNotice, type Operator } from '../../../platform/operator/operator.js';

/** `npm run merchant -- ...`: what operators do with merchants. */
export function merchantProgram(program: Command, operator: Operator): void {
  program.description('Registers merchants and issues their keys.');

  program
    .command('create')
    .description('register a merchant and show its first private key, once')
    .requiredOption('--name <name>', 'what it is called; people who sign up read it too')
    .action(async function (this: Command) {
      const { name } = this.opts<{ name: string }>();
      await operate(operator, async (context) => {
        const made = await context.get(CommandBus).execute(new RegisterMerchant(name));
        const text = `Registered ${name.trim()}\n\n  svc-api-key  ${made.merchantId}\n${keyText(made)}`;
        return { text: withNotice(text, made), json: { merchant_id: made.merchantId, ...keyJson(made) } };
      }).call(this);
    });

  program
    .command('list')
    .description('list all merchants')
    .action(
      operate(operator, async (context) => {
        const merchants = await context.get(DirectoryView).list();
        const lines = merchants.map((each) => `${each.merchantId}  ${each.status.padEnd(9)}  ${each.name}`);
        return { text: lines.join('\n') || 'No merchants', json: { merchants: merchants.map(merchantJson) } };
      }),
    );

  program
    .command('show <merchant-id>')
    .description('show a merchant and its keys; private keys are never shown again')
    .action(
      operate(operator, async (context, id) => {
        const found = await context.get(DirectoryView).find(merchantId(id));
        if (found === null) throw DomainError.notFound('Merchant');
        return { text: merchantText(found), json: merchantJson(found) };
      }),
    );

  program
    .command('issue-key <merchant-id>')
    .description('issue a second private key for a rotation, and show it, once')
    .action(
      operate(operator, async (context, id) => {
        const issued = await context.get(CommandBus).execute(new IssueMerchantKey(merchantId(id)));
        const text = `Issued a private key; revoke the old one when it is out of use\n\n${keyText(issued)}`;
        return { text: withNotice(text, issued), json: keyJson(issued) };
      }),
    );

  program
    .command('revoke-key <merchant-id> <key-id>')
    .description('refuse signatures made with this private key')
    .action(
      operate(operator, async (context, id, keyId) =>
        changed(
          'Revoked',
          await context.get(CommandBus).execute(new RevokeMerchantKey(merchantId(id), keyId ?? '')),
        ),
      ),
    );

  program
    .command('suspend <merchant-id>')
    .description('refuse every call of the merchant with 403')
    .action(
      operate(operator, async (context, id) =>
        changed('Suspended', await context.get(CommandBus).execute(new SuspendMerchant(merchantId(id)))),
      ),
    );

  program
    .command('reinstate <merchant-id>')
    .description('end a suspension')
    .action(
      operate(operator, async (context, id) =>
        changed('Reinstated', await context.get(CommandBus).execute(new ReinstateMerchant(merchantId(id)))),
      ),
    );

  program
    .command('allow-ips <merchant-id> [cidrs...]')
    .description('refuse calls from outside these addresses and ranges with 403; none: anywhere')
    .action(async function (this: Command, id: string, cidrs: string[]) {
      await operate(operator, async (context) =>
        changed(
          cidrs.length === 0 ? 'Allow list cleared: requests from anywhere are let in' : 'Allow list set',
          await context.get(CommandBus).execute(new SetIpAllowList(merchantId(id), cidrs)),
        ),
      ).call(this);
    });

  embeddingCommand(program, operator);
}

interface EmbeddingOptions {
  readonly origin?: readonly string[];
  readonly callback?: readonly string[];
  readonly shownAs?: string;
  readonly clear?: boolean;
}

function embeddingCommand(program: Command, operator: Operator): void {
  const collect = (each: string, all: readonly string[] = []): readonly string[] => [...all, each];
  program
    .command('embedding <merchant-id>')
    .description(
      'set whose pages may show the onboarding page in a frame, and where it leads back to; an option that is left out stays as it was',
    )
    .option(
      '--origin <origin>',
      'such as https://shop.example; repeat it for each: the list replaces the previous one',
      collect,
    )
    .option(
      '--callback <target>',
      'where callback_url may lead: an origin, or the scheme of an app such as shopapp:; likewise a list',
      collect,
    )
    .option('--shown-as <name>', 'the name that people who sign up read, instead of the registered one')
    .option('--clear', 'clear every one of these settings first')
    .action(async function (this: Command, id: string) {
      const { origin, callback, shownAs, clear = false } = this.opts<EmbeddingOptions>();
      const change = {
        ...(clear && { origins: [], callbacks: [], shownAs: null }),
        ...(origin && { origins: origin }),
        ...(callback && { callbacks: callback }),
        ...(shownAs !== undefined && { shownAs }),
      };
      if (Object.keys(change).length === 0)
        throw new ConfigError('Give --origin, --callback, --shown-as or --clear.');
      await operate(operator, async (context) =>
        changed(
          'Embedding set',
          await context.get(CommandBus).execute(new SetEmbedding(merchantId(id), change)),
        ),
      ).call(this);
    });
}

function merchantId(text: string | undefined): string {
  if (!isUuid(text)) throw DomainError.notFound('Merchant');
  return text.toLowerCase();
}

type Key = MerchantChanged & { readonly keyId: string; readonly privateKey: string };

function keyText({ keyId, privateKey }: Key): string {
  return `  private key  ${privateKey}\n  key id       ${keyId}\n\nThe private key is shown this once: keep it safe.`;
}

function keyJson({ keyId, privateKey, visible }: Key): object {
  return { key_id: keyId, private_key: privateKey, visible };
}

function merchantText(row: MerchantRow): string {
  const keys = row.keys.map(({ keyId, issuedAt, revokedAt }) => {
    const until = revokedAt === null ? 'valid' : `revoked ${revokedAt.toISOString()}`;
    return `  key          ${keyId}  issued ${issuedAt.toISOString()}  ${until}`;
  });
  return [
    row.name,
    '',
    `  svc-api-key  ${row.merchantId}`,
    `  status       ${row.status}`,
    `  registered   ${row.registeredAt.toISOString()}`,
    `  allowed IPs  ${row.ipAllowList.join(', ') || 'anywhere'}`,
    ...embeddingText(row),
    ...keys,
  ].join('\n');
}

function embeddingText({ name, embedding: { origins, callbacks, shownAs } }: MerchantRow): readonly string[] {
  return [
    `  shown as     ${shownAs ?? name}`,
    `  framed by    ${origins.join(', ') || 'no origin named: anybody in the sandbox, nobody in production'}`,
    `  leads to     ${callbacks.join(', ') || 'any https address or app'}`,
  ];
}

function merchantJson(row: MerchantRow): object {
  return {
    merchant_id: row.merchantId,
    name: row.name,
    status: row.status,
    ip_allow_list: row.ipAllowList,
    origins: row.embedding.origins,
    callbacks: row.embedding.callbacks,
    shown_as: row.embedding.shownAs ?? row.name,
    registered_at: row.registeredAt,
    keys: row.keys.map((key) => ({ key_id: key.keyId, issued_at: key.issuedAt, revoked_at: key.revokedAt })),
  };
}
