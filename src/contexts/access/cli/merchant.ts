import { CommandBus } from '@nestjs/cqrs';
import type { Command } from 'commander';
import { DomainError } from '../../../kernel/domain-error.js';
import { ConfigError } from '../../../platform/config/settings.js';
import { changeOutcome, operate, type Operator } from '../../../platform/operator/operator.js';
import { RevokeSecret } from '../application/credentials.js';
import {
  RegisterMerchant,
  ReinstateMerchant,
  SetEmbedding,
  SuspendMerchant,
} from '../application/merchant-commands.js';
import { DirectoryView, type MerchantRow } from '../views/directory.js';
import { CredentialCommands, line, secretLines, secretsJson } from './credentials.js';

/** `npm run merchant -- ...`: what operators do with merchants. */
export function merchantProgram(program: Command, operator: Operator): void {
  program.description('Registers merchants and issues their keys.');
  const commands = new CredentialCommands(program, operator, 'api_key');

  program
    .command('create')
    .description('register a merchant and show its first private key, once')
    .requiredOption('--name <name>', 'what it is called; people who sign up read it too')
    .action(
      operate(operator, async function (context) {
        const { name } = this.opts<{ name: string }>();
        const registered = await context.get(CommandBus).execute(new RegisterMerchant(name));
        const text = `Registered ${name.trim()}\n\n${line('svc-api-key', registered.merchantId)}\n`;
        return commands.issued(text, registered, { merchant_id: registered.merchantId });
      }),
    );

  program
    .command('list')
    .description('list all merchants')
    .action(
      operate(operator, async (context) => {
        const merchants = await context.get(DirectoryView).merchants();
        const lines = merchants.map((each) => `${each.merchantId}  ${each.status.padEnd(9)}  ${each.name}`);
        return { text: lines.join('\n') || 'No merchants', json: { merchants: merchants.map(merchantJson) } };
      }),
    );

  program
    .command('show <merchant-id>')
    .description('show a merchant and its keys; private keys are never displayed again')
    .action(
      operate(operator, async (context, id) => {
        const found = await context.get(DirectoryView).merchant(commands.id(id));
        if (found === null) throw DomainError.notFound('Merchant');
        return { text: merchantText(found), json: merchantJson(found) };
      }),
    );

  commands.issueSecret(
    'issue-key <merchant-id>',
    'issue a second private key for a rotation, and show it, once',
  );
  commands.change(
    'revoke-key <merchant-id> <key-id>',
    'refuse signatures of this private key',
    'Revoked',
    (id, keyId) => new RevokeSecret('api_key', id, keyId!),
  );
  commands.change(
    'suspend <merchant-id>',
    'refuse every call of the merchant with 403',
    'Suspended',
    (id) => new SuspendMerchant(id),
  );
  commands.change(
    'reinstate <merchant-id>',
    'end a suspension',
    'Reinstated',
    (id) => new ReinstateMerchant(id),
  );
  commands.setAddresses(
    'allow-ips <merchant-id> [cidrs...]',
    'refuse calls from outside these addresses and ranges with 403; none: anywhere',
  );
  embeddingCommand(program, operator, commands);
}

interface EmbeddingOptions {
  readonly origin?: readonly string[];
  readonly callback?: readonly string[];
  readonly shownAs?: string;
  readonly clear?: boolean;
}

function embeddingCommand(program: Command, operator: Operator, commands: CredentialCommands): void {
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
    .action(
      operate(operator, async function (context, id) {
        const { origin, callback, shownAs: displayName, clear = false } = this.opts<EmbeddingOptions>();
        const change = {
          ...(clear && { origins: [], callbacks: [], displayName: null }),
          ...(origin && { origins: origin }),
          ...(callback && { callbacks: callback }),
          ...(displayName !== undefined && { displayName }),
        };
        if (Object.keys(change).length === 0)
          throw new ConfigError('Give --origin, --callback, --shown-as or --clear.');
        const command = new SetEmbedding(commands.id(id), change);
        return changeOutcome('Embedding set', await context.get(CommandBus).execute(command));
      }),
    );
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
    keys: secretsJson('api_key', row.secrets),
  };
}
