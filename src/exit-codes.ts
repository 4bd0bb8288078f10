import { ConfigError } from './platform/config/settings.js';
import { Unreachable } from './platform/postgres/unavailable.js';

/** Of <sysexits.h>: what the operator can correct, and what waiting may correct. */
const EXIT_CODES = [
  [ConfigError, 78],
  [Unreachable, 69],
] as const;

/** How a process ends after this error; 1 for any other. */
export function exitCodeOf(error: unknown): number {
  return EXIT_CODES.find(([kind]) => error instanceof kind)?.[1] ?? 1;
}
