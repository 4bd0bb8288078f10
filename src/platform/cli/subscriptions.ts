import type { Command } from 'commander';
import { HoldEventType } from './system-commands.js';
import type { CliContext } from './cli-context.js';
import { writes } from './write.js';

/** `npm run subscriptions -- hold`: the way back from `npm run admin -- system let-pass` (ADR 96). */
export function subscriptionsProgram(program: Command, cli: CliContext): void {
  program.description('Lets subscriptions wait again at a type of events that no version here knows.');
  writes(
    program
      .command('hold <type>')
      .description(
        'removes the rule; a process that went past one of this type does so until it is restarted',
      ),
    cli,
    async (_, write, type = '') => {
      await write(new HoldEventType(type), null);
      return { text: `Subscriptions wait at ${type}`, json: { type } };
    },
  );
}
