import { describe, expect, it } from '@jest/globals';
import { readConfig } from '../../composition.js';
import { ConfigError } from './settings.js';

const production = {
  MODE: 'production',
  DATABASE_URL: 'postgres://db/disburse',
  MASTER_KEY: '0'.repeat(64),
  CHAIN_RPC_URL: 'https://node.example.com',
  USDC_ADDRESS: `0x${'1'.repeat(40)}`,
  PUBLIC_URL: 'https://api.example.com',
};

describe('the configuration', () => {
  it('has a default for every setting in the sandbox', () => {
    const config = readConfig({});
    expect(config).toMatchObject({ mode: 'sandbox', port: 3000, rateLimitPerMinute: 100, databaseUrl: null });
    expect(config.roles).toEqual(['api', 'worker', 'widget', 'admin', 'portal']);
    expect(config.webhookRetryScheduleSeconds).toEqual([
      0, 5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400,
    ]);
  });

  it('treats an empty text as a setting that is not set', () => {
    expect(readConfig({ PORT: ' ', DATABASE_URL: '' })).toMatchObject({ port: 3000, databaseUrl: null });
  });

  it.each([
    ['PORT', 'http'],
    ['PORT', '70000'],
    ['PORT', '3000.5'],
    ['MODE', 'prod'],
    ['ROLES', 'api,cook'],
    ['DATABASE_URL', 'mysql://x'],
    ['EVENT_STORE_URL', 'http://x'],
    ['QUEUE_URL', 'amqp://x'],
    ['USDC_ADDRESS', '0x12'],
    ['RATE_LIMIT_PER_MINUTE', '0'],
    ['RATE_LIMIT_PER_MINUTE', 'often'],
    ['CHAIN_RPC_URL', 'ftp://chain'],
    ['WEBHOOK_RETRY_SCHEDULE_SECONDS', '0,,5'],
    ['REQUIRE_HTTPS', 'yes'],
    ['TRUST_PROXY', 'true'],
    ['TRUST_PROXY', '10.0.0.0/33'],
  ])('fails with the name and the purpose of %s if its value is %s', (name, value) => {
    expect(() => readConfig({ [name]: value })).toThrow(ConfigError);
    expect(() => readConfig({ [name]: value })).toThrow(new RegExp(`^${name} must be .+\\. ${name}: .+\\.$`));
  });

  it('fails with the allowed values if a list has another value', () => {
    expect(() => readConfig({ ROLES: 'api,cook' })).toThrow(
      'ROLES must be a comma-separated list of api, worker, widget, admin, portal, not "api,cook". ROLES: what this process does.',
    );
  });

  it.each(['127.0.0.1', '10.0.0.0/8, ::1', 'loopback,uniquelocal', 'fd00::/8'])(
    'accepts the trusted proxy %s',
    (list) => {
      expect(readConfig({ TRUST_PROXY: list })).toMatchObject({ trustProxy: list });
    },
  );

  it('demands HTTPS in production unless REQUIRE_HTTPS is false', () => {
    expect(readConfig({})).toMatchObject({ requireHttps: false });
    expect(readConfig(production)).toMatchObject({ requireHttps: true });
    expect(readConfig({ ...production, REQUIRE_HTTPS: 'false' })).toMatchObject({ requireHttps: false });
    expect(readConfig({ REQUIRE_HTTPS: 'true' })).toMatchObject({ requireHttps: true });
  });

  it('has no default mode if NODE_ENV is production, so a container without MODE stops', () => {
    const withoutMode = { NODE_ENV: 'production' };
    expect(() => readConfig(withoutMode)).toThrow(ConfigError);
    expect(() => readConfig(withoutMode)).toThrow(/^MODE must be set where NODE_ENV is production\. MODE: /);
    expect(readConfig({ ...withoutMode, MODE: 'sandbox' })).toMatchObject({ mode: 'sandbox' });
  });

  it('refuses a WEBHOOK_DISABLE_SPAN_SECONDS above WEBHOOK_DISABLE_WINDOW_SECONDS', () => {
    const of = (span: string, window: string) => () =>
      readConfig({ WEBHOOK_DISABLE_SPAN_SECONDS: span, WEBHOOK_DISABLE_WINDOW_SECONDS: window });
    expect(of('601', '600')).toThrow(ConfigError);
    expect(of('601', '600')).toThrow(
      /^WEBHOOK_DISABLE_SPAN_SECONDS \(601\) must be no larger than .*\(600\)/,
    );
    expect(of('600', '600')).not.toThrow();
    expect(() => readConfig({ WEBHOOK_DISABLE_WINDOW_SECONDS: '60' })).toThrow(ConfigError);
  });

  it('never quotes the value of an invalid secret', () => {
    expect(() => readConfig({ MASTER_KEY: 'hunter2' })).toThrow(/^MASTER_KEY must be 64 hexadecimal digits/);
    expect(() => readConfig({ MASTER_KEY: 'hunter2' })).not.toThrow(/hunter2/);
  });

  it('accepts the Amplitude URL only over HTTPS in production', () => {
    const plain = { AMPLITUDE_API_KEY: 'key', AMPLITUDE_URL: 'http://127.0.0.1:1/' };
    expect(() => readConfig({ ...production, ...plain })).toThrow(/^AMPLITUDE_URL must begin with https/);
    expect(readConfig(plain)).toMatchObject({ amplitudeUrl: 'http://127.0.0.1:1/' });
    expect(() => readConfig({ AMPLITUDE_API_KEY: 'hunter 2' })).not.toThrow(/hunter/);
  });

  it.each(Object.keys(production).filter((name) => name !== 'MODE'))('requires %s in production', (name) => {
    expect(() => readConfig({ ...production, [name]: undefined })).toThrow(
      new RegExp(`^${name} must be set in production`),
    );
  });
});
