import { ConfigError } from './platform/config/settings.js';
import { Unreachable } from './platform/postgres/unavailable.js';

/** Returns a code of <sysexits.h> for an error that an operator can correct and for a transient one, else 1. */
export function toExitCode(error: unknown): number {
  if (error instanceof ConfigError) return 78;
  return error instanceof Unreachable ? 69 : 1;
}
