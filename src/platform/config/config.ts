import { CHAIN_SETTINGS } from './chain-settings.js';
import { cidrs, proxies } from './cidrs.js';
import {
  about,
  ConfigError,
  flag,
  integer,
  oneOf,
  optional,
  pattern,
  readSetting,
  seconds,
  setting,
  someOf,
  text,
  url,
  urlsIn,
  type Setting,
} from './settings.js';

/**
 * Every setting of the service: its name in the environment, how it is read, its default and what it is.
 * In sandbox mode DATABASE_URL, CHAIN_RPC_URL and the keys that are not given come from the sandbox parts.
 */
export const SETTINGS = {
  mode: setting(
    'MODE',
    oneOf('sandbox', 'production'),
    'sandbox',
    'sandbox (everything from npm packages) or production; sandbox when not set, except where NODE_ENV is production: there it has to be set.',
  ),
  roles: setting(
    'ROLES',
    someOf('api', 'worker', 'widget'),
    ['api', 'worker', 'widget'],
    'what this process does.',
  ),
  host: setting('HOST', text, '127.0.0.1', 'the address to listen on.'),
  port: setting('PORT', integer(0, 65535), 3000, 'the port of the API.'),
  widgetPort: setting('WIDGET_PORT', integer(0, 65535), 3001, 'the port of the onboarding widget.'),
  payPort: setting('PAY_PORT', integer(0, 65535), 3002, 'the port of the pay widget.'),
  metricsPort: setting('METRICS_PORT', integer(0, 65535), 9464, 'the port of GET /metrics.'),
  publicUrl: optional('PUBLIC_URL', url('http', 'https'), 'the base_url that merchants see.'),
  widgetUrl: optional('WIDGET_URL', url('http', 'https'), 'the widget_url that merchants see.'),
  payUrl: optional('PAY_URL', url('http', 'https'), 'the pay_url that merchants see.'),
  dataDir: setting(
    'DATA_DIR',
    text,
    '.sandbox',
    'the folder of the sandbox: its database, its chain, sandbox.json.',
  ),
  databaseUrl: optional('DATABASE_URL', url('postgres', 'postgresql'), 'the PostgreSQL database.', true),
  databasePoolSize: setting(
    'DATABASE_POOL_SIZE',
    integer(4, 200),
    16,
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
  ...CHAIN_SETTINGS,
  rateLimitPerMinute: setting(
    'RATE_LIMIT_PER_MINUTE',
    integer(1, 10_000_000),
    100,
    'requests per minute and merchant.',
  ),
  rateLimitPerIpPerMinute: {
    name: 'RATE_LIMIT_PER_IP_PER_MINUTE',
    parse: integer(1, 1_000_000_000),
    fallback: null,
    help: 'requests per minute and address, before authentication; 60 times RATE_LIMIT_PER_MINUTE when not set, and at least 6000.',
  } as Setting<number | null>,
  maxConnections: setting(
    'MAX_CONNECTIONS',
    integer(16, 100_000),
    2000,
    'the most connections to one listener; more are closed at once.',
  ),
  maxConnectionsPerIp: setting(
    'MAX_CONNECTIONS_PER_IP',
    integer(4, 100_000),
    256,
    'the most of them from one address; not applied when TRUST_PROXY is set.',
  ),
  requestMemoryMib: setting(
    'REQUEST_MEMORY_MIB',
    integer(16, 65_536),
    128,
    'the most memory that request bodies and responses under way may hold, in MiB; a quarter of it for one client.',
  ),
  webhookRetryScheduleSeconds: setting(
    'WEBHOOK_RETRY_SCHEDULE_SECONDS',
    seconds,
    [0, 5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400],
    'the delays after the first attempt of a delivery.',
  ),
  webhookTimeoutMs: setting(
    'WEBHOOK_TIMEOUT_MS',
    integer(100, 30_000),
    30_000,
    'how long a receiver may take to answer.',
  ),
  webhookDisableFailures: setting(
    'WEBHOOK_DISABLE_FAILURES',
    integer(1, 1000),
    50,
    'failed attempts after which a webhook endpoint is disabled.',
  ),
  webhookDisableWindowSeconds: setting(
    'WEBHOOK_DISABLE_WINDOW_SECONDS',
    integer(1, 604_800),
    21_600,
    'the sliding window in which these failed attempts are counted.',
  ),
  webhookDisableSpanSeconds: setting(
    'WEBHOOK_DISABLE_SPAN_SECONDS',
    integer(0, 604_800),
    1800,
    'how far apart the first and the last of them must be at least.',
  ),
  webhookRetentionDays: setting(
    'WEBHOOK_RETENTION_DAYS',
    integer(0, 36_500),
    90,
    'how long finished webhook deliveries and their attempts are kept; 0 keeps them all.',
  ),
  webhookAllowCidrs: optional(
    'WEBHOOK_ALLOW_CIDRS',
    cidrs,
    'the address ranges that webhook receivers may have besides public ones; no metadata address but as /32 or /128.',
  ),
  trackingRawDays: setting(
    'TRACKING_RAW_DAYS',
    integer(1, 3650),
    14,
    'how long the bodies of event batches are kept, and longer while one of a day is not finished.',
  ),
  trackingRetentionMonths: setting(
    'TRACKING_RETENTION_MONTHS',
    integer(1, 1200),
    25,
    'how long events are kept, and known again when they are sent once more.',
  ),
  amplitudeApiKey: optional(
    'AMPLITUDE_API_KEY',
    pattern(/^[!-~]{1,200}$/, 'an API key without spaces'),
    "the API key of the Amplitude project that gets merchants' events; without one they are kept and not passed on, in the sandbox to a table.",
    true,
  ),
  amplitudeUrl: setting(
    'AMPLITUDE_URL',
    url('http', 'https'),
    'https://api2.amplitude.com/2/httpapi',
    'where Amplitude takes events; https://api.eu.amplitude.com/2/httpapi in the EU. HTTPS in production.',
  ),
  analyticsEventsPerSecond: setting(
    'ANALYTICS_EVENTS_PER_SECOND',
    integer(1, 1_000_000),
    1000,
    'the most events per second that are passed on to the analytics provider, by all processes together.',
  ),
  analyticsTimeoutMs: setting(
    'ANALYTICS_TIMEOUT_MS',
    integer(100, 30_000),
    10_000,
    'how long the analytics provider may take to answer.',
  ),
  maxClockSkewSeconds: setting(
    'MAX_CLOCK_SKEW_SECONDS',
    integer(1, 3600),
    30,
    "how far this process's clock may be from the database's; beyond it the process verifies no payout and is not ready.",
  ),
  readYourWritesMs: setting(
    'READ_YOUR_WRITES_MS',
    integer(0, 30_000),
    2000,
    'how long an answer waits for the read models to show its write.',
  ),
  projectionLagLimitMs: setting(
    'PROJECTION_LAG_LIMIT_MS',
    integer(100, 3_600_000),
    60_000,
    'projection lag over which reads answer 503.',
  ),
  shutdownGraceMs: setting(
    'SHUTDOWN_GRACE_MS',
    integer(0, 600_000),
    30_000,
    'how long SIGTERM waits for requests under way.',
  ),
  trustProxy: optional(
    'TRUST_PROXY',
    proxies,
    'the addresses of the proxies whose X-Forwarded-* headers count; the others are not believed.',
  ),
  requireHttps: {
    name: 'REQUIRE_HTTPS',
    parse: flag,
    fallback: null,
    help: 'whether requests that did not come over HTTPS are refused; true in production when not set.',
  } as Setting<boolean | null>,
  logLevel: setting(
    'LOG_LEVEL',
    oneOf('silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'),
    'info',
    'the least level that is logged.',
  ),
  logFile: optional('LOG_FILE', text, 'a file for the log instead of standard output.'),
  otlpEndpoint: optional(
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    url('http', 'https'),
    'the OpenTelemetry collector; no traces when not set.',
  ),
} satisfies Record<string, Setting<unknown>>;

type Read<S> = { readonly [K in keyof S]: S[K] extends Setting<infer T> ? T : never };

/** The whole configuration, read once at boot. */
export type Config = Omit<Read<typeof SETTINGS>, 'requireHttps'> & { readonly requireHttps: boolean };

/** Nest injection token of the {@link Config}. */
export const CONFIG = Symbol('CONFIG');

/** Reads and checks every setting. Throws {@link ConfigError} whose message names the setting at fault. */
export function readConfig(env: NodeJS.ProcessEnv = process.env): Config {
  const entries = Object.entries(SETTINGS).map(
    ([key, each]) => [key, readSetting<unknown>(each, env)] as const,
  );
  const read = Object.fromEntries(entries) as unknown as Read<typeof SETTINGS>;
  requireMode(env);
  const config = { ...read, requireHttps: read.requireHttps ?? read.mode === 'production' };
  requireSense(config);
  if (config.mode === 'production') requireInProduction(config);
  return config;
}

/** The image sets NODE_ENV: a container that should be production must not become a sandbox by an oversight. */
function requireMode(env: NodeJS.ProcessEnv): void {
  const given = env[SETTINGS.mode.name] ?? '';
  if (given.trim() === '' && env['NODE_ENV'] === 'production')
    throw new ConfigError(`MODE must be set where NODE_ENV is production. ${about(SETTINGS.mode)}`);
}

/** Failures further apart than the window never count together: nothing would ever be disabled. */
function requireSense({
  webhookDisableSpanSeconds: span,
  webhookDisableWindowSeconds: window,
  chainRpcUrl,
  chainQuorum,
}: Config): void {
  const nodes = chainRpcUrl === null ? 1 : new Set(urlsIn(chainRpcUrl)).size;
  if (chainQuorum > nodes) {
    throw new ConfigError(
      `CHAIN_QUORUM (${chainQuorum}) must be no larger than the number of nodes in CHAIN_RPC_URL (${nodes}): no payout would ever be received.`,
    );
  }
  if (span > window) {
    throw new ConfigError(
      `WEBHOOK_DISABLE_SPAN_SECONDS (${span}) must be no larger than WEBHOOK_DISABLE_WINDOW_SECONDS (${window}): failures so far apart are never counted together.`,
    );
  }
}

function requireInProduction(config: Config): void {
  const needed = ['databaseUrl', 'masterKey', 'chainRpcUrl', 'usdcAddress', 'publicUrl'] as const;
  for (const key of needed) {
    if (config[key] === null) {
      throw new ConfigError(`${SETTINGS[key].name} must be set in production. ${about(SETTINGS[key])}`);
    }
  }
  // The key travels in the body.
  if (config.amplitudeApiKey !== null && !config.amplitudeUrl.startsWith('https://')) {
    throw new ConfigError('AMPLITUDE_URL must begin with https:// in production.');
  }
}
