import type { Command } from 'commander';
import { DomainError } from '../../../kernel/domain-error.js';
import { newId } from '../../../kernel/ids.js';
import { ConfigError } from '../../../platform/config/settings.js';
import { changeOutcome, cliAction, parseId, type CliContext } from '../../../platform/cli/cli-context.js';
import { writes } from '../../../platform/cli/write.js';
import { RevokeCredential } from '../application/credential-commands.js';
import {
  CreateMerchant,
  ReinstateMerchant,
  SuspendMerchant,
  UpdateMerchant,
} from '../application/merchant-commands.js';
import { allowed, CredentialCommands, isVisible, line, secretLines, secretsJson } from './credentials.js';
import { findMerchants, type MerchantRow } from './rows.js';

/** `npm run merchant -- ...`: what operators do with merchants. */
export function merchantProgram(program: Command, cli: CliContext): void {
  program.description('Registers merchants and issues their keys.');
  const commands = new CredentialCommands(program, cli, 'payouts');

  writes(
    program
      .command('create')
      .description('register a merchant and show its first private key, once')
      .requiredOption('--name <name>', 'what it is called; people who sign up read it too'),
    cli,
    async function (context, write) {
      const { name } = this.opts<{ name: string }>();
      const merchantId = newId();
      await write(new CreateMerchant(merchantId, { name }), merchantId);
      const text = `Registered ${name.trim()}\n\n${line('svc-api-key', merchantId)}\n`;
      return commands.issue(context, write, text, { merchantId, name: '' }, { merchant_id: merchantId });
    },
  );

  program
    .command('list')
    .description('list all merchants')
    .action(
      cliAction(cli, async (context) => {
        const merchants = await findMerchants(context, null);
        const lines = merchants.map((each) => `${each.merchantId}  ${each.status.padEnd(9)}  ${each.name}`);
        return {
          text: lines.join('\n') || 'No merchants',
          json: { merchants: merchants.map(merchantJson) },
          displays: { subject: 'merchants', merchantIds: merchants.map(({ merchantId }) => merchantId) },
        };
      }),
    );

  program
    .command('show <merchant-id>')
    .description('show a merchant and its keys; private keys are never displayed again')
    .action(
      cliAction(cli, async (context, id) => {
        const [found] = await findMerchants(context, commands.id(id));
        if (found === undefined) throw DomainError.notFound('Merchant');
        const displays = { subject: `merchant ${found.merchantId}`, merchantIds: [found.merchantId] };
        return { text: merchantText(found), json: merchantJson(found), displays };
      }),
    );

  writes(
    program
      .command('issue-key <merchant-id>')
      .description('issue a second private key for a rotation, and show it, once'),
    cli,
    (context, write, id) => {
      const text = 'Issued a private key; revoke the old one when it is out of use\n\n';
      return commands.issue(context, write, text, { merchantId: commands.id(id), name: '' });
    },
  );
  commands.change(
    'revoke-key <merchant-id> <key-id>',
    'refuse signatures of this private key',
    'Revoked',
    (_, merchantId, keyId) => {
      const holder = { kind: 'payouts', merchant_id: merchantId, operator_id: null, api_key: null } as const;
      return [new RevokeCredential(parseId(keyId, 'Private key'), holder), merchantId];
    },
  );
  commands.change(
    'suspend <merchant-id>',
    'refuse every call of the merchant with 403',
    'Suspended',
    (_, merchantId) => [new SuspendMerchant(merchantId), merchantId],
  );
  commands.change('reinstate <merchant-id>', 'end a suspension', 'Reinstated', (_, merchantId) => [
    new ReinstateMerchant(merchantId),
    merchantId,
  ]);
  commands.change(
    'allow-ips <merchant-id> [cidrs...]',
    'refuse calls from outside these addresses and ranges with 403; none: anywhere',
    (...cidrs) => allowed(cidrs),
    (_, merchantId, ...cidrs) => [new UpdateMerchant(merchantId, { ip_allow_list: cidrs }), merchantId],
  );
  embeddingCommand(program, cli, commands);
}

interface EmbeddingOptions {
  readonly origin?: readonly string[];
  readonly callback?: readonly string[];
  readonly shownAs?: string;
  readonly clear?: boolean;
}

function embeddingCommand(program: Command, cli: CliContext, commands: CredentialCommands): void {
  const collect = (each: string, all: readonly string[] = []): readonly string[] => [...all, each];
  const command = program
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
    .option('--clear', 'clear every one of these settings first');
  writes(command, cli, async function (context, write, id) {
    const { origin, callback, shownAs, clear = false } = this.opts<EmbeddingOptions>();
    const embedding = {
      ...(clear && { origins: [], callbacks: [], display_name: null }),
      ...(origin && { origins: origin }),
      ...(callback && { callbacks: callback }),
      ...(shownAs !== undefined && { display_name: shownAs }),
    };
    if (Object.keys(embedding).length === 0)
      throw new ConfigError('Give --origin, --callback, --shown-as or --clear.');
    const merchantId = commands.id(id);
    await write(new UpdateMerchant(merchantId, { embedding }), merchantId);
    return changeOutcome('Embedding set', { visible: await isVisible(context) });
  });
}

function merchantText(row: MerchantRow): string {
  const { name, origins, callbacks, displayName } = row;
  return [
    name,
    '',
    line('svc-api-key', row.merchantId),
    line('status', row.status),
    line('registered', row.registeredAt.toISOString()),
    line('allowed IPs', row.cidrs.join(', ') || 'anywhere'),
    line('shown as', displayName ?? name),
    line(
      'framed by',
      origins.join(', ') || 'no origin listed: every site in the sandbox, none in production',
    ),
    line('leads to', callbacks.join(', ') || 'any https address or app'),
    ...secretLines('key', row.secrets),
  ].join('\n');
}

function merchantJson(row: MerchantRow): object {
  return {
    merchant_id: row.merchantId,
    name: row.name,
    status: row.status,
    ip_allow_list: row.cidrs,
    origins: row.origins,
    callbacks: row.callbacks,
    shown_as: row.displayName ?? row.name,
    registered_at: row.registeredAt,
    keys: secretsJson('payouts', row.secrets),
  };
}
