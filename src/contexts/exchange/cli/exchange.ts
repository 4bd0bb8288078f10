import type { Command } from 'commander';
import type { Operator } from '../../../platform/operator/operator.js';
import { orderCommands } from './orders.js';
import { eraseCommand } from './erase.js';
import { recheckCommand } from './recheck.js';
import { settingsCommand } from './settings.js';

/** `npm run exchange -- ...`: what operators do with the exchange. */
export function exchangeProgram(program: Command, operator: Operator): void {
  program.description(
    'Issues and revokes the API keys of the exchange, shows its orders and settings, records refunds, and checks deposits on their chain.',
  );
  orderCommands(program, operator);
  eraseCommand(program, operator);
  recheckCommand(program, operator);
  settingsCommand(program, operator);
}
