import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { DomainError } from '../../../kernel/domain-error.js';
import { providerErrors } from '../exchange.metrics.js';
import { ProviderRefused, ProviderUnavailable } from '../../../platform/outbound/provider-errors.js';
import type { ExchangeProvider } from './exchange-provider.ports.js';
import { ExchangeProviders } from './exchange-providers.service.js';

type Work = () => Promise<string>;
const works: Work = async () => 'done';
const failing =
  (error: Error): Work =>
  () =>
    Promise.reject(error);

function shop(name: string): ExchangeProvider {
  return { name } as Partial<ExchangeProvider> as ExchangeProvider;
}

function callsOf(name: string) {
  const lines: { level: string; fields: Record<string, unknown> }[] = [];
  const at = (level: string) => (fields: Record<string, unknown>) => void lines.push({ level, fields });
  const providers = new ExchangeProviders([shop(name)], name, { warn: at('warn'), error: at('error') });
  const call = (work: Work, keyId: string | null = null): Promise<string> =>
    providers.call(name, { operation: 'status', orderId: 'order-1', keyId }, work);
  const outcome = (keyId: string | null, work: Work): Promise<string> =>
    call(work, keyId).catch((error: Error) => error.message);
  return { providers, call, outcome, lines };
}

async function errors(provider: string, kind: string): Promise<number> {
  const { values } = await providerErrors.get();
  const of = values.filter(({ labels }) => labels.provider === provider && labels.kind === kind);
  return of.reduce((sum, { value }) => sum + value, 0);
}

describe('failed calls to a provider', () => {
  const down = failing(new ProviderUnavailable('it responds with 500'));
  afterEach(() => void jest.useRealTimers());

  it('for one API key pause only the calls for that key', async () => {
    const { providers, outcome } = callsOf('memory');
    for (let n = 0; n < 3; n += 1) expect(await outcome('a', down)).toBe('it responds with 500');
    expect(providers.unavailable()).toEqual(['memory']);
    expect(await outcome('a', works)).toBe('memory was unavailable seconds ago');
    expect(await outcome('b', works)).toBe('done');
    expect(await outcome(null, works)).toBe('done');
    expect(providers.unavailable()).toEqual([]);
  });

  it('without an API key pause the calls of all keys; the readiness check names the provider', async () => {
    const { providers, outcome } = callsOf('memory');
    expect(await providers.check()).toBeUndefined();
    for (let n = 0; n < 3; n += 1) await outcome(null, down);
    expect(providers.unavailable()).toEqual(['memory']);
    expect(await providers.check()).toBe(
      'the exchange provider memory is unavailable: no order can be created',
    );
    for (const keyId of [null, 'a']) expect(await outcome(keyId, works)).toContain('unavailable seconds ago');
  });

  it('that time out three times in a row mark the provider as unavailable for a minute', async () => {
    jest.useFakeTimers();
    const { providers, outcome } = callsOf('silent');
    for (let n = 0; n < 3; n += 1) {
      expect(providers.unavailable()).toEqual([]);
      const silent = outcome('a', () => new Promise(() => undefined));
      await jest.advanceTimersByTimeAsync(10_000);
      expect(await silent).toBe('no response within 10 s');
    }
    expect(providers.unavailable()).toEqual(['silent']);
    jest.advanceTimersByTime(60_000);
    expect(providers.unavailable()).toEqual([]);
  });

  it.each<[string, Error, string | null]>([
    ['unavailable', new ProviderUnavailable('no response'), 'warn'],
    ['contradiction', new ProviderUnavailable('another address', 'contradiction'), 'error'],
    ['refused', new ProviderRefused('never', null), 'warn'],
    ['unexpected', new TypeError('x is undefined'), 'error'],
    ['invalid', DomainError.invalid({ amount: ['is too small'] }), null],
    ['refused', new ProviderRefused('is none', 'withdraw_address'), null],
    ['later', new ProviderUnavailable('not yet', 'later'), null],
  ])('of kind %s (%s) are counted and logged as %s', async (kind, error, level) => {
    const { call, lines } = callsOf(`${kind}-${level}`);
    await expect(call(failing(error))).rejects.toBe(error);
    expect(await errors(`${kind}-${level}`, kind)).toBe(1);
    const fields = expect.objectContaining({ operation: 'status', kind, order_id: 'order-1' }) as unknown;
    expect(lines).toEqual(level === null ? [] : [{ level, fields }]);
  });
});

describe('the configured providers', () => {
  const [one, two] = [shop('one'), shop('two')];

  it('include one for new orders; the other providers still serve their existing orders', async () => {
    const providers = new ExchangeProviders([one, two], 'two');
    expect(providers.current).toBe(two);
    const call = { operation: 'status', keyId: null } as const;
    expect(await providers.call('one', call, async ({ name }) => name)).toBe('one');
    await expect(providers.call('gone', call, works)).rejects.toBeInstanceOf(ProviderUnavailable);
  });

  it.each([null, 'gone'])('include none for new orders if EXCHANGE_PROVIDER is %s', async (name) => {
    const providers = new ExchangeProviders([one], name);
    expect(() => providers.current).toThrow(
      new DomainError('unavailable', 'No exchange provider is configured'),
    );
    expect(await providers.check()).toBe('no exchange provider is configured: no order can be created');
  });
});
