import { userInfo } from 'node:os';
import type { Command } from 'commander';

/** What is given with a command that events record for ever: why, and who did it. */
export interface Reasoned {
  readonly reason: string;
  readonly actor: string;
}

/** Adds `--reason`, which has to be given, and `--actor`, who is the user of the operating system unless it says otherwise. */
export function withReason(command: Command): Command {
  return command
    .requiredOption(
      '--reason <text>',
      'why, in at most 500 characters: a ticket, say. It is kept for ever, so write nothing in it that identifies the person',
    )
    .option('--actor <name>', 'who does it', userInfo().username);
}
