import { Problem } from './terminal.mjs';

export const EXIT = { refused: 1, usage: 2, unreachable: 69 };

/** The command line is wrong: nothing was sent. */
export class Usage extends Problem {
  exitCode = EXIT.usage;
}

/** What the command needs does not respond. */
export class Unreachable extends Problem {
  exitCode = EXIT.unreachable;
}
