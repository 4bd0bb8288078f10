import * as contexts from './contexts/index.js';
import type { Setting } from './platform/config/settings.js';
import type { Context } from './platform/context.js';
import { EventStore1795000000000 } from './platform/event-store/postgres/migrations/1795000000000-event-store.js';
import { readConfigOf, SETTINGS, type Config } from './platform/config/config.js';
import type { Migration } from './platform/postgres/migrate.js';
import { Platform1795000000101 } from './platform/postgres/migrations/1795000000101-platform.js';
import { Work1795000000050 } from './platform/jobs/migrations/1795000000050-work.js';

/** The platform and what the contexts declare, put together. */
export const ALL_CONTEXTS: readonly Context[] = Object.values(contexts);

/** Every setting by its key in the configuration. */
export const ALL_SETTINGS = Object.assign({}, SETTINGS, ...ALL_CONTEXTS.map(({ settings }) => settings)) as {
  readonly [K in keyof Config]: Setting<Config[K]>;
};

/** The whole configuration. Throws ConfigError whose message names the setting at fault. */
export function readConfig(env: NodeJS.ProcessEnv = process.env): Config {
  return readConfigOf(ALL_CONTEXTS, env);
}

/** Every migration; TypeORM orders them by their timestamps. */
export const MIGRATIONS: readonly Migration[] = [
  EventStore1795000000000,
  Work1795000000050,
  Platform1795000000101,
  ...ALL_CONTEXTS.flatMap(({ migrations = [] }) => migrations),
];
