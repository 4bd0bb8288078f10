import type { Command } from 'commander';
import type { Operator } from '../../../platform/operator/operator.js';
import { keyCommands } from './keys.js';
import { settingsCommand } from './settings.js';

/** `npm run exchange -- ...`: what operators do with the exchange. */
export function exchangeProgram(program: Command, operator: Operator): void {
  program.description('Issues and revokes the API keys of the exchange, and shows its settings.');
  keyCommands(program, operator);
  settingsCommand(program, operator);
}
