import { Global, Module, type DynamicModule } from '@nestjs/common';
import { CLOCK, systemClock } from '../../kernel/clock.js';
import { proxies } from './cidrs.js';
import {
  about,
  ConfigError,
  flag,
  anInteger,
  neededInProduction,
  anyOf,
  optional,
  pattern,
  readSetting,
  setting,
  someOf,
  anyText,
  url,
  type Settings,
  type SettingsOf,
} from './settings.js';

/**
 * The settings of the platform: their names in the environment, how they are read, their defaults and what they are.
 * In sandbox mode DATABASE_URL, CHAIN_RPC_URL and the keys that are not given come from the sandbox parts.
 */
export const SETTINGS = {
  mode: setting(
    'MODE',
    anyOf('sandbox', 'production'),
    'sandbox',
    'sandbox (everything from npm packages) or production; sandbox when not set, except where NODE_ENV is production: there it has to be set.',
  ),
  roles: setting(
    'ROLES',
    someOf('api', 'worker', 'widget', 'admin', 'portal'),
    ['api', 'worker', 'widget', 'admin', 'portal'],
    'what this process does.',
  ),
  host: setting('HOST', anyText, '127.0.0.1', 'the address to listen on.'),
  port: setting('PORT', anInteger(0, 65535), 3000, 'the port of the API.'),
  payPort: setting('PAY_PORT', anInteger(0, 65535), 3002, 'the port of the pay widget.'),
  adminPort: setting('ADMIN_PORT', anInteger(0, 65535), 3003, 'the port of the admin API and the console.'),
  portalPort: setting('PORTAL_PORT', anInteger(0, 65535), 3004, "the port of the merchants' portal."),
  metricsPort: setting('METRICS_PORT', anInteger(0, 65535), 9464, 'the port of GET /metrics.'),
  publicUrl: optional('PUBLIC_URL', url('http', 'https'), 'the base_url that merchants see.'),
  payUrl: optional('PAY_URL', url('http', 'https'), 'the pay_url that merchants see.'),
  adminUrl: optional('ADMIN_URL', url('http', 'https'), 'the address of the admin API and the console.'),
  portalUrl: optional('PORTAL_URL', url('http', 'https'), 'the portal_url that merchants see.'),
  dataDir: setting(
    'DATA_DIR',
    anyText,
    '.sandbox',
    'the folder of the sandbox: its database, its chain, sandbox.json; of the role admin also admin.sock, by which its user operates the service.',
  ),
  databaseUrl: optional('DATABASE_URL', url('postgres', 'postgresql'), 'the PostgreSQL database.', true),
  databasePoolSize: setting(
    'DATABASE_POOL_SIZE',
    anInteger(4, 200),
    // Each subscription may hold one while another process has its checkpoint.
    32,
    'the most connections one process opens to PostgreSQL.',
  ),
  eventStoreUrl: optional(
    'EVENT_STORE_URL',
    url('esdb', 'esdb+discover', 'postgres', 'postgresql'),
    'the event store; DATABASE_URL when not set.',
    true,
  ),
  queueUrl: optional(
    'QUEUE_URL',
    url('redis', 'rediss', 'postgres', 'postgresql'),
    'the queue of BullMQ; DATABASE_URL when not set.',
    true,
  ),
  masterKey: optional(
    'MASTER_KEY',
    pattern(/^[0-9a-f]{64}$/i, '64 hexadecimal digits (32 bytes)'),
    'wraps the keys that seal all secrets (docs/keys.md).',
    true,
  ),
  masterKeyFormer: optional(
    'MASTER_KEY_FORMER',
    pattern(/^[0-9a-f]{64}$/i, '64 hexadecimal digits (32 bytes)'),
    'the MASTER_KEY before this one, while it is being replaced (docs/keys.md).',
    true,
  ),
  rateLimitPerMinute: setting(
    'RATE_LIMIT_PER_MINUTE',
    anInteger(1, 10_000_000),
    100,
    'requests per minute and merchant.',
  ),
  rateLimitPerIpPerMinute: optional(
    'RATE_LIMIT_PER_IP_PER_MINUTE',
    anInteger(1, 1_000_000_000),
    'requests per minute and address, before authentication; 60 times RATE_LIMIT_PER_MINUTE when not set, and at least 6000.',
  ),
  maxConnections: setting(
    'MAX_CONNECTIONS',
    anInteger(16, 100_000),
    2000,
    'the most connections to one listener; more are closed at once.',
  ),
  requestMemoryMib: setting(
    'REQUEST_MEMORY_MIB',
    anInteger(16, 65_536),
    128,
    'the most memory that request bodies and responses in flight may hold, in MiB; a quarter of it for one client.',
  ),
  maxClockSkewSeconds: setting(
    'MAX_CLOCK_SKEW_SECONDS',
    anInteger(1, 3600),
    30,
    "how far this process's clock may be from the database's; beyond it the process verifies no payout and is not ready.",
  ),
  readYourWritesMs: setting(
    'READ_YOUR_WRITES_MS',
    anInteger(0, 30_000),
    2000,
    'how long a read waits for the read models to show what was written before it; 503 after that.',
  ),
  projectionLagLimitMs: setting(
    'PROJECTION_LAG_LIMIT_MS',
    anInteger(100, 3_600_000),
    60_000,
    'how far subscriptions may be behind before the service is not ready.',
  ),
  shutdownGraceMs: setting(
    'SHUTDOWN_GRACE_MS',
    anInteger(0, 600_000),
    30_000,
    'how long SIGTERM waits for requests in flight.',
  ),
  trustProxy: optional(
    'TRUST_PROXY',
    proxies,
    'the addresses of the proxies whose X-Forwarded-* headers count; others are ignored.',
  ),
  requireHttps: optional(
    'REQUIRE_HTTPS',
    flag,
    'whether requests that did not come over HTTPS are refused; true in production when not set.',
  ),
  logLevel: setting(
    'LOG_LEVEL',
    anyOf('silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'),
    'info',
    'the least level that is logged.',
  ),
  logFile: optional('LOG_FILE', anyText, 'a file for the log instead of standard output.'),
  otlpEndpoint: optional(
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    url('http', 'https'),
    'the OpenTelemetry collector; no traces when not set.',
  ),
} satisfies Settings;

/** The whole configuration, read once at boot. Each context adds its settings next to their declaration. */
export interface Config extends Omit<SettingsOf<typeof SETTINGS>, 'requireHttps'> {
  readonly requireHttps: boolean;
}

/** Nest injection token of the {@link Config}. */
export const CONFIG = Symbol('CONFIG');

/** A context with settings, which may check them together, throwing a {@link ConfigError}. */
export interface SettingsOwner {
  readonly settings?: Settings;
  readonly checkSettings?: (config: Config) => void;
}

/** Settings of earlier versions, with what replaces them: a process that finds one does not start. */
const REMOVED: Readonly<Record<string, string>> = {
  MAX_CONNECTIONS_PER_IP: 'the proxy bounds the connections of one address (docs/production.md)',
};

/**
 * Reads and checks the settings of the platform and of `owners`. Throws {@link ConfigError} whose message names the
 * setting at fault.
 */
export function readConfigOf(owners: readonly SettingsOwner[], env: NodeJS.ProcessEnv): Config {
  const all = [SETTINGS, ...owners.map(({ settings = {} }) => settings)].flatMap((each) =>
    Object.entries(each),
  );
  for (const [name, instead] of Object.entries(REMOVED))
    if (env[name]?.trim()) throw new ConfigError(`${name} is no setting any more: ${instead}. Unset it.`);
  const read: Record<string, unknown> = {};
  for (const [key, each] of all) {
    if (key in read) throw new Error(`the setting ${key} has two owners`);
    read[key] = readSetting<unknown>(each, env);
  }
  requireMode(env);
  const config = { ...read, requireHttps: read['requireHttps'] ?? read['mode'] === 'production' } as Config;
  for (const { checkSettings } of owners) checkSettings?.(config);
  const { databaseUrl, masterKey, publicUrl } = SETTINGS;
  neededInProduction(config, { databaseUrl, masterKey, publicUrl });
  return config;
}

/** The image sets NODE_ENV: a container that should be production must not become a sandbox by an oversight. */
function requireMode(env: NodeJS.ProcessEnv): void {
  const given = env[SETTINGS.mode.name] ?? '';
  if (given.trim() === '' && env['NODE_ENV'] === 'production')
    throw new ConfigError(`MODE must be set where NODE_ENV is production. ${about(SETTINGS.mode)}`);
}

/** The configuration that was read and completed before Nest booted, and the clock, for every module. */
@Global()
@Module({})
export class ConfigModule {
  static of(config: Config): DynamicModule {
    return {
      module: ConfigModule,
      providers: [
        { provide: CONFIG, useValue: config },
        { provide: CLOCK, useValue: systemClock },
      ],
      exports: [CONFIG, CLOCK],
    };
  }
}

/** What a listener is called by programs on the same machine, where nothing else was set. */
export function listenerUrl(host: string, port: number): string {
  return `http://${host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host}:${port}`;
}
