import { describe, expect, it } from '@jest/globals';
import { isPrivateAddress } from './address.js';
import { httpConfig, httpsNotices } from '../config/config.js';
import { EdgeAdapter, EdgeHooks } from './fastify-adapter.js';
import { MemoryBudget } from './request-body.js';

const roles = ['api', 'worker', 'widget'] as const;
const production = {
  ...httpConfig({ MODE: 'production', PUBLIC_URL: 'https://api.example.com' }),
  roles,
};

describe('the boot', () => {
  const said = (change: object): string => httpsNotices({ ...production, ...change }).join('\n');

  it('logs that HTTPS is required, and the setting that disables this', () =>
    expect(said({ trustProxy: '10.0.0.1' })).toMatch(/^HTTPS is demanded: .*REQUIRE_HTTPS=false[^\n]*$/));

  it('warns that every request gets 403 while no proxy is trusted', () =>
    expect(said({})).toMatch(/TRUST_PROXY is not set, .* every request will get 403/));

  it('warns of a likely proxy when the public URL is https', () => {
    const sandbox = { mode: 'sandbox', requireHttps: false };
    expect(said(sandbox)).toMatch(/^TRUST_PROXY is not set, .* address and the limits of the proxy/);
    expect(said({ ...sandbox, publicUrl: null, widgetUrl: 'https://w.example' })).toMatch(/^TRUST_PROXY/);
    expect(said({ ...sandbox, publicUrl: 'http://127.0.0.1:3000' })).toBe('');
    expect(said({ ...sandbox, trustProxy: 'loopback' })).toBe('');
  });

  it('warns that production responds without HTTPS', () =>
    expect(said({ requireHttps: false, trustProxy: '10.0.0.1' })).toMatch(/^REQUIRE_HTTPS is false/));

  it('logs nothing for a worker', () => expect(said({ roles: ['worker'] })).toBe(''));
});

it.each([
  ['127.0.0.1', true],
  ['::ffff:10.1.2.3', true],
  ['192.168.0.7', true],
  ['fd00::1', true],
  ['8.8.8.8', false],
  ['::ffff:8.8.8.8', false],
  ['2606:4700::1111', false],
  ['', false],
])('%s is a private address, which gets metrics without HTTPS: %s', (address, may) =>
  expect(isPrivateAddress(address)).toBe(may),
);

describe('a service', () => {
  const logged = async (trustProxy: string | null): Promise<readonly string[]> => {
    const config = { ...httpConfig({}), trustProxy };
    const adapter = new EdgeAdapter(config);
    const lines: string[] = [];
    const log = { warn: (line: string) => void lines.push(line), wideLog: () => undefined };
    const memory = new MemoryBudget(1 << 20);
    new EdgeHooks({ httpAdapter: adapter } as never, config, memory, log as never).onModuleInit();
    for (const headers of [{}, { 'x-forwarded-for': '1.2.3.4' }, { 'x-forwarded-proto': 'https' }])
      await adapter.getInstance().inject({ url: '/', headers: headers as Record<string, string> });
    return lines;
  };

  it('warns once about headers of an untrusted proxy', async () =>
    expect(await logged(null)).toEqual([
      expect.stringMatching(/^A request came with x-forwarded-for, and TRUST_PROXY/),
    ]));

  it('does not warn about headers of a trusted proxy', async () =>
    expect(await logged('10.0.0.1')).toEqual([]));
});
