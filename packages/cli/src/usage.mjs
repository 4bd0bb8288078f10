import { constants } from 'node:os';
import { Problem } from './terminal.mjs';

export const EXIT = { refused: 1, usage: 2, unreachable: 69, setting: 78 };

/** The command line is wrong: nothing was sent. */
export class Usage extends Problem {
  exitCode = EXIT.usage;
}

/** The error for a service that does not respond. */
export class Unreachable extends Problem {
  exitCode = EXIT.unreachable;
}

/** An environment variable does not fit the command. */
export class WrongSetting extends Problem {
  exitCode = EXIT.setting;
}

/** A signal ended the command before it was done. */
export class Interrupted extends Problem {
  constructor(signal, message) {
    super(message);
    this.exitCode = 128 + constants.signals[signal];
  }
}
