import { ConfigError } from './platform/config/settings.js';
import { Unreachable } from './platform/postgres/unavailable.js';

/** The codes of <sysexits.h> for errors that an operator can correct, and for transient errors. */
const EXIT_CODES = [
  [ConfigError, 78],
  [Unreachable, 69],
] as const;

/** Returns the exit code after this error; 1 for any other. */
export function toExitCode(error: unknown): number {
  return EXIT_CODES.find(([kind]) => error instanceof kind)?.[1] ?? 1;
}
