import type { Config } from '../../../platform/config/config.js';
import type { Database } from '../../../platform/postgres/database.js';
import type { Analytics } from '../application/ports.js';
import { Amplitude } from './amplitude.js';
import { SandboxAnalytics } from './sandbox-analytics.js';

/** Amplitude when it has a key, else the sandbox's own provider in the sandbox, else none. */
export function configuredAnalytics(config: Config, database: Database): Analytics | null {
  const { amplitudeApiKey, mode } = config;
  if (amplitudeApiKey !== null) return new Amplitude({ ...config, amplitudeApiKey });
  return mode === 'sandbox' ? new SandboxAnalytics(config, database) : null;
}
