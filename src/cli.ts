import { constants, setPriority } from 'node:os';
import { DomainError } from './kernel/domain-error.js';
import { programOf, type OperatorIo } from './operator.js';
import { printable } from './platform/operator/printable.js';
import { ConfigError } from './platform/config/settings.js';
import { Unreachable } from './platform/postgres/unavailable.js';

const EXIT_REFUSED = 1;
const EXIT_CONFIG = 78;
/** Of a processor it takes what the service leaves: all of it where there is one to spare. */
const YIELDS = 'rebuild';

const exit = (code: number): void => void (process.exitCode = code);
const print = (text: string): boolean => process.stdout.write(`${text}\n`);

/** Runs an operator's program, `cli.js NAME ...`; an error becomes a sentence and an exit code. */
export async function runProgram(
  [name = '', ...args]: readonly string[],
  complete?: OperatorIo['complete'],
): Promise<void> {
  try {
    if (name === YIELDS) setPriority(constants.priority.PRIORITY_LOW);
    const program = await programOf(name, { env: process.env, print, exit, complete });
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    exit(error instanceof ConfigError ? EXIT_CONFIG : EXIT_REFUSED);
    const expected = [ConfigError, DomainError, Unreachable].some((kind) => error instanceof kind);
    const text = error instanceof Error ? (expected ? error.message : error.stack) : String(error);
    process.stderr.write(`${printable(text ?? '')}\n`);
    // A boot that failed half-way may have left connections that are retried without end.
    process.exit();
  }
}
