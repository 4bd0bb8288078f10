import type { Command } from 'commander';
import type { CliContext } from '../../../platform/cli/cli-context.js';
import { eraseCommand } from './erase.js';
import { recheckCommand } from './recheck.js';

/** `npm run exchange -- ...`: what needs the events or the nodes of the chain, and is not in the admin API. */
export function exchangeProgram(program: Command, cli: CliContext): void {
  program.description(
    'Erases whom orders were for, checks deposits on their chain, and sets what the pay page displays.',
  );
  eraseCommand(program, cli);
  recheckCommand(program, cli);
}
