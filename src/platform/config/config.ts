import type { DynamicModule } from '@nestjs/common';
import { ConfigModule, registerAs } from '@nestjs/config';
import { proxies } from './cidrs.js';
import {
  about,
  ConfigError,
  defineConfig,
  flag,
  anInteger,
  anyOf,
  optional,
  pattern,
  processConfig,
  setting,
  anyText,
  url,
  urls,
  type ConfigPart,
  type Parser,
} from './settings.js';

export { processConfig, type ProcessConfig } from './settings.js';

/** The finality of a block: a block tag of the chain, or the number of confirmations, this block included. */
export type Finality = 'safe' | 'finalized' | number;

const finality: Parser<Finality> = (text) => {
  if (text === 'safe' || text === 'finalized') return text;
  if (/^[1-9][0-9]{0,4}$|^100000$/.test(text)) return Number(text);
  throw new Error('safe, finalized, or a number of confirmations from 1 to 100000');
};

export const httpConfig = defineConfig('http', {
  host: setting(anyText, '127.0.0.1', 'the address to listen on.'),
  port: setting(anInteger(0, 65535), 3000, 'the port of the API.'),
  widgetPort: setting(anInteger(0, 65535), 3001, 'the port of the onboarding widget.'),
  payPort: setting(anInteger(0, 65535), 3002, 'the port of the pay widget.'),
  adminPort: setting(anInteger(0, 65535), 3003, 'the port of the admin API and the console.'),
  portalPort: setting(anInteger(0, 65535), 3004, "the port of the merchants' portal."),
  metricsPort: setting(anInteger(0, 65535), 9464, 'the port of GET /metrics.'),
  publicUrl: optional(url('http', 'https'), 'the base_url that merchants see.', 'needed'),
  widgetUrl: optional(url('http', 'https'), 'the widget_url that merchants see.'),
  payUrl: optional(url('http', 'https'), 'the pay_url that merchants see.'),
  adminUrl: optional(url('http', 'https'), 'the address of the admin API and the console.'),
  portalUrl: optional(url('http', 'https'), 'the portal_url that merchants see.'),
  rateLimitPerMinute: setting(anInteger(1, 10_000_000), 100, 'requests per minute and merchant.'),
  rateLimitPerIpPerMinute: optional(
    anInteger(1, 1_000_000_000),
    'requests per minute and address, before authentication; 60 times RATE_LIMIT_PER_MINUTE when not set, and at least 6000.',
  ),
  maxConnections: setting(
    anInteger(16, 100_000),
    2000,
    'the most connections to one listener; more are closed at once.',
  ),
  requestMemoryMib: setting(
    anInteger(16, 65_536),
    128,
    'the most memory that request bodies and responses in flight may hold, in MiB; a quarter of it for one client.',
  ),
  trustProxy: optional(
    proxies,
    'the addresses of the proxies whose X-Forwarded-* headers count; others are ignored.',
  ),
  requireHttps: setting(
    flag,
    false,
    'whether requests that did not come over HTTPS are refused; true in production when not set.',
    true,
  ),
});

export type HttpConfig = ReturnType<typeof httpConfig>;

export const storeConfig = defineConfig('store', {
  databaseUrl: optional(url('postgres', 'postgresql'), 'the PostgreSQL database.', 'secret', 'needed'),
  databasePoolSize: setting(
    anInteger(4, 200),
    // Each subscription may hold a connection while another process has locked its checkpoint.
    32,
    'the most connections one process opens to PostgreSQL.',
  ),
  eventStoreUrl: optional(
    url('esdb', 'esdb+discover', 'postgres', 'postgresql'),
    'the event store; DATABASE_URL when not set.',
    'secret',
  ),
  queueUrl: optional(
    url('redis', 'rediss', 'postgres', 'postgresql'),
    'the queue of BullMQ; DATABASE_URL when not set.',
    'secret',
  ),
  maxClockSkewSeconds: setting(
    anInteger(1, 3600),
    30,
    "how far this process's clock may be from the database's; beyond it the process verifies no payout and is not ready.",
  ),
  readYourWritesMs: setting(
    anInteger(0, 30_000),
    2000,
    'how long a read waits for the read models to show what was written before it; 503 after that.',
  ),
  projectionLagLimitMs: setting(
    anInteger(100, 3_600_000),
    60_000,
    'how far subscriptions may be behind before the service is not ready.',
  ),
});

export type StoreConfig = ReturnType<typeof storeConfig>;

export const sealingConfig = defineConfig('sealing', {
  masterKey: optional(
    pattern(/^[0-9a-f]{64}$/i, '64 hexadecimal digits (32 bytes)'),
    'wraps the keys that seal all secrets (docs/keys.md).',
    'secret',
    'needed',
  ),
  masterKeyFormer: optional(
    pattern(/^[0-9a-f]{64}$/i, '64 hexadecimal digits (32 bytes)'),
    'the MASTER_KEY before this one, while it is being replaced (docs/keys.md).',
    'secret',
  ),
});

export type SealingConfig = ReturnType<typeof sealingConfig>;

/** The settings of the chain: nodes, USDC contract, and when a payout counts as received or expired. */
export const chainConfig = defineConfig('chain', {
  chainRpcUrl: optional(
    urls('http', 'https'),
    'the JSON-RPC node of the chain, or several separated by commas: the next one is used while one is unavailable.',
    'secret',
    'needed',
  ),
  chainQuorum: setting(
    anInteger(1, 10),
    1,
    'how many of these nodes have to agree before a payout is received or expired.',
  ),
  chainMaxHeadAgeSeconds: optional(
    anInteger(0, 86_400),
    'how old the newest block of a node may be; by chain when not set. 0: the chain mines on demand, its blocks have no meaningful time.',
  ),
  chainId: setting(anInteger(1, Number.MAX_SAFE_INTEGER), 31337, 'the chain that payouts are on.'),
  usdcAddress: optional(
    pattern(/^0x[0-9a-f]{40}$/i, 'an address of 40 hexadecimal digits after 0x'),
    'the USDC contract on the chain; the boot ends when it is no contract, or one with other than six decimals.',
    'needed',
  ),
  payoutFinality: optional(
    finality,
    'from when on a transfer counts: from the head on that the chain calls safe or finalized, or after a number of confirmations, the block it is in being the first; by chain when not set. Deposits of orders follow it too.',
  ),
  payoutExpiryMarginSeconds: optional(
    anInteger(0, 86_400),
    'how far past the window the newest final block has to be, and how far apart the two observations that let a payout expire; by chain when not set.',
  ),
});

export type ChainConfig = ReturnType<typeof chainConfig>;

export const telemetryConfig = defineConfig('telemetry', {
  logLevel: setting(
    anyOf('silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'),
    'info',
    'the least level that is logged.',
  ),
  logFile: optional(anyText, 'a file for the log instead of standard output.'),
  otelExporterOtlpEndpoint: optional(
    url('http', 'https'),
    'the OpenTelemetry collector; no traces when not set.',
  ),
});

export type TelemetryConfig = ReturnType<typeof telemetryConfig>;

/** The settings of the platform, without those of contexts. */
export type PlatformConfig = HttpConfig & StoreConfig & SealingConfig & ChainConfig & TelemetryConfig;

export const PLATFORM_PARTS = [
  processConfig,
  httpConfig,
  storeConfig,
  sealingConfig,
  chainConfig,
  telemetryConfig,
];

/** Reads the settings of all parts into one object. A class injects the object as the type of its part. */
export function readParts(parts: readonly ConfigPart[], env: NodeJS.ProcessEnv): object {
  const names = parts.flatMap(({ settings }) => Object.values(settings).map(({ name }) => name));
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new Error(`two parts of the configuration declare the setting ${twice}`);
  const config: object = Object.assign({}, ...parts.map((read) => read(env)));
  // The image sets NODE_ENV, so that a production container cannot become a sandbox by mistake.
  if (!env['MODE']?.trim() && env['NODE_ENV'] === 'production')
    throw new ConfigError(
      `MODE must be set where NODE_ENV is production. ${about(processConfig.settings.mode)}`,
    );
  return config;
}

/** Creates Nest's module of a configuration that was read before the boot. */
export function configModule(config: object, parts: readonly ConfigPart[]): Promise<DynamicModule> {
  const load = parts.map(({ namespace }) => registerAs(namespace, () => config));
  return ConfigModule.forRoot({ isGlobal: true, ignoreEnvFile: true, load });
}

export function listenerUrl(host: string, port: number): string {
  return `http://${host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host}:${port}`;
}

/** Returns a notice for the log if a proxy has to end TLS but no proxy is trusted, else null. */
export function proxyNotice(config: HttpConfig): string | null {
  if (config.trustProxy !== null || config.roles.every((role) => role === 'worker')) return null;
  if (config.requireHttps)
    return 'TRUST_PROXY is not set, and this process ends no TLS itself: every request will get 403. Set TRUST_PROXY to the addresses of the proxy that ends it, or REQUIRE_HTTPS to false.';
  const isProxied = [config.publicUrl, config.widgetUrl].some((each) => each?.startsWith('https://'));
  return isProxied
    ? 'TRUST_PROXY is not set, but the public URL begins with https:// and this process ends no TLS itself: all clients will share the address and the limits of the proxy. Set TRUST_PROXY to its addresses.'
    : null;
}
