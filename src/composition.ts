import * as contexts from './contexts/index.js';
import type { Context } from './platform/context.js';
import { EventStore1795000000000 } from './platform/event-store/postgres/migrations/1795000000000-event-store.js';
import { PLATFORM_PARTS, readParts, type PlatformConfig } from './platform/config/config.js';
import type { ConfigPart } from './platform/config/settings.js';
import type { Migration } from './platform/postgres/migrate.js';
import { Platform1795000000101 } from './platform/postgres/migrations/1795000000101-platform.js';
import { Work1795000000050 } from './platform/jobs/migrations/1795000000050-work.js';

export const ALL_CONTEXTS: readonly Context[] = Object.values(contexts);

export const CONFIG_PARTS: readonly ConfigPart[] = [
  ...PLATFORM_PARTS,
  ...ALL_CONTEXTS.flatMap(({ config }) => config ?? []),
];

type ContextConfig<T> = T extends Context<infer C> ? (config: C) => void : never;
type Together<T> = ContextConfig<T[keyof T]> extends (config: infer C) => void ? C : never;

/** The settings of the platform and of all contexts. A class injects only the settings of its context. */
export type Config = PlatformConfig & Together<typeof contexts>;

/** Reads and checks all settings. Throws a ConfigError that names the invalid setting. */
export function readConfig(env: NodeJS.ProcessEnv = process.env): Config {
  const config = readParts(CONFIG_PARTS, env) as Config;
  for (const context of ALL_CONTEXTS) context.checkSettings?.(config);
  return config;
}

/** All migrations, which TypeORM sorts by timestamp. */
export const MIGRATIONS: readonly Migration[] = [
  EventStore1795000000000,
  Work1795000000050,
  Platform1795000000101,
  ...ALL_CONTEXTS.flatMap(({ migrations = [] }) => migrations),
];
