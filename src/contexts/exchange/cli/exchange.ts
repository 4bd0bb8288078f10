import type { Command } from 'commander';
import type { Config } from '../../../platform/config/config.js';
import type { Setting, Settings } from '../../../platform/config/settings.js';
import type { CliContext } from '../../../platform/cli/cli-context.js';
import { redactText } from '../../../platform/telemetry/redaction.js';
import { Countries } from '../application/compliance-notices.js';
import { EXCHANGE_SETTINGS } from '../settings.js';
import { eraseCommand } from './erase.js';
import { orderCommands } from './orders.js';
import { recheckCommand } from './recheck.js';

/** `npm run exchange -- ...`: what operators do with the exchange. */
export function exchangeProgram(program: Command, cli: CliContext): void {
  program.description(
    'Issues and revokes the API keys of the exchange, displays its orders and settings, records refunds, and checks deposits on their chain.',
  );
  orderCommands(program, cli);
  eraseCommand(program, cli);
  recheckCommand(program, cli);
  settingsCommand(program, cli);
}

/** `exchange settings`: of secrets only whether they are set. */
function settingsCommand(program: Command, { config, print }: CliContext): void {
  program
    .command('settings')
    .description('show the settings of providers, orders and notices; secrets are never displayed')
    .action(function (this: Command) {
      const values = config();
      const settings = [...listedSettings(EXCHANGE_SETTINGS, { ...values }), countriesOf(values)];
      const asJson = this.optsWithGlobals<{ json?: boolean }>().json === true;
      print(asJson ? JSON.stringify({ settings }, null, 2) : settings.map(describe).join('\n\n'));
    });
}

interface ListedSetting extends Pick<Setting<unknown>, 'name' | 'help'> {
  /** What was read from the environment, or from the file that it names; null when there is none. */
  readonly value: unknown;
}

/** The file of countries, which notices need: whether it can be read, and its age. */
function countriesOf({ exchangeCountriesFile }: Pick<Config, 'exchangeCountriesFile'>): ListedSetting {
  const { description } = new Countries(exchangeCountriesFile, { error: () => undefined });
  return { name: 'countries by address', value: description, help: 'read where there are notices.' };
}

/** `values` by the keys of the settings. */
export function listedSettings(
  settings: Settings,
  values: Readonly<Record<string, unknown>>,
): readonly ListedSetting[] {
  return Object.entries(settings).map(([key, { name, help, secret }]) => {
    const value = values[key] ?? null;
    return { name, value: secret === true && value !== null ? '(set, not displayed)' : plain(value), help };
  });
}

/** As JSON; a URL without its password. */
function plain(value: unknown): unknown {
  if (typeof value === 'string') return redactText(value);
  return value instanceof Map ? Object.fromEntries<unknown>(value) : value;
}

function describe({ name, value, help }: ListedSetting): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2).replaceAll('\n', '\n  ');
  return `${name}  ${value === null ? '(not set)' : text}\n  ${help}`;
}
