import type { Command } from 'commander';
import type { Config } from '../../../platform/config/config.js';
import type { Setting, Settings } from '../../../platform/config/settings.js';
import type { Operator } from '../../../platform/operator/operator.js';
import { Countries } from '../adapters/countries.js';
import { redactText } from '../../../platform/telemetry/redaction.js';
import { EXCHANGE_SETTINGS } from '../settings.js';

/** `exchange settings`: what the exchange goes by; of secrets only whether they are set. */
export function settingsCommand(program: Command, { config, print }: Operator): void {
  program
    .command('settings')
    .description('show the settings of providers, orders and notices; secrets are never shown')
    .action(function (this: Command) {
      const values = config();
      const settings = [...shownSettings(EXCHANGE_SETTINGS, { ...values }), countriesOf(values)];
      const asJson = this.optsWithGlobals<{ json?: boolean }>().json === true;
      print(asJson ? JSON.stringify({ settings }, null, 2) : settings.map(describe).join('\n\n'));
    });
}

interface ShownSetting extends Pick<Setting<unknown>, 'name' | 'help'> {
  /** What was read from the environment, or from the file that it names; null when there is none. */
  readonly value: unknown;
}

/** What is read of countries where there are notices: an operator should see that it can be, and how old it is. */
function countriesOf({ exchangeCountriesFile }: Pick<Config, 'exchangeCountriesFile'>): ShownSetting {
  const { description } = new Countries(exchangeCountriesFile, { error: () => undefined });
  return { name: 'countries by address', value: description, help: 'read where there are notices.' };
}

/** `values` by the keys of the settings. */
export function shownSettings(
  settings: Settings,
  values: Readonly<Record<string, unknown>>,
): readonly ShownSetting[] {
  return Object.entries(settings).map(([key, { name, help, secret }]) => {
    const value = values[key] ?? null;
    return { name, value: secret === true && value !== null ? '(set, not shown)' : plain(value), help };
  });
}

/** As JSON can tell it; a URL without its password. */
function plain(value: unknown): unknown {
  if (typeof value === 'string') return redactText(value);
  return value instanceof Map ? Object.fromEntries<unknown>(value) : value;
}

function describe({ name, value, help }: ShownSetting): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2).replaceAll('\n', '\n  ');
  return `${name}  ${value === null ? '(not set)' : text}\n  ${help}`;
}
