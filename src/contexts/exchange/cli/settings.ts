import type { Command } from 'commander';
import type { Operator } from '../../../platform/operator/operator.js';
import { EXCHANGE_SETTINGS } from '../settings.js';
import type { Setting } from '../../../platform/config/settings.js';

/** `exchange settings`: what the exchange goes by; of secrets only whether they are set. */
export function settingsCommand(program: Command, { config, print }: Operator): void {
  program
    .command('settings')
    .description('show the settings of providers and notices; secrets are never shown')
    .action(function (this: Command) {
      const values = config() as unknown as Readonly<Record<string, unknown>>;
      const settings = Object.entries<Setting<unknown>>(EXCHANGE_SETTINGS).map(
        ([key, { name, help, secret }]) => ({ name, value: shown(values[key], secret === true), help }),
      );
      const asJson = this.optsWithGlobals<{ json?: boolean }>().json === true;
      print(asJson ? JSON.stringify({ settings }, null, 2) : settings.map(describe).join('\n\n'));
    });
}

function shown(value: unknown, isSecret: boolean): string | null {
  if (value === null || value === '') return null;
  if (isSecret) return '(set, not shown)';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function describe({ name, value, help }: { name: string; value: string | null; help: string }): string {
  return `${name}  ${value ?? '(not set)'}\n  ${help}`;
}
