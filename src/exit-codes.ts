import { ConfigError } from './platform/config/settings.js';
import { Unreachable } from './platform/postgres/unavailable.js';

/** Returns EX_CONFIG or EX_UNAVAILABLE of <sysexits.h>, or 1 for an unexpected error. */
export function toExitCode(error: unknown): number {
  if (error instanceof ConfigError) return 78;
  return error instanceof Unreachable ? 69 : 1;
}
