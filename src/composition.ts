import * as contexts from './contexts/index.js';
import type { Setting } from './platform/config/settings.js';
import { knownEvents, type Context } from './platform/context.js';
import { EventStore1764000000030 } from './platform/event-store/postgres/migrations/1764000000030-event-store.js';
import { RateLimits1764000000100 } from './platform/http/migrations/1764000000100-rate-limits.js';
import { readConfigOf, SETTINGS, type Config } from './platform/config/config.js';
import type { Migration } from './platform/postgres/migrate.js';
import { SealedResponses1764000001401 } from './platform/idempotency/migrations/1764000001401-sealed-responses.js';
import { Sealing1764000000120 } from './platform/sealing/migrations/1764000000120-sealing.js';
import { Work1764000000060 } from './platform/work/migrations/1764000000060-work.js';

/** What the service is made of: the platform, and what the contexts declare. */
export const ALL_CONTEXTS: readonly Context[] = Object.values(contexts);

/** Every setting by its key in the configuration. */
export const ALL_SETTINGS = Object.assign({}, SETTINGS, ...ALL_CONTEXTS.map(({ settings }) => settings)) as {
  readonly [K in keyof Config]: Setting<Config[K]>;
};

/** The whole configuration. Throws ConfigError whose message names the setting at fault. */
export function readConfig(env: NodeJS.ProcessEnv = process.env): Config {
  return readConfigOf(ALL_CONTEXTS, env);
}

/** Every event that this version knows. */
export const KNOWN_EVENTS = knownEvents(ALL_CONTEXTS);

/** Every migration; TypeORM orders them by their timestamps. */
export const MIGRATIONS: readonly Migration[] = [
  EventStore1764000000030,
  Work1764000000060,
  RateLimits1764000000100,
  Sealing1764000000120,
  SealedResponses1764000001401,
  ...ALL_CONTEXTS.flatMap(({ migrations = [] }) => migrations),
];
