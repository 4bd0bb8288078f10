import { describe, expect, it } from '@jest/globals';
import { DomainError } from '../../../kernel/domain-error.js';
import { ProviderRefused, ProviderUnavailable, type ExchangeProvider } from '../application/ports.js';
import { providerErrors } from '../metrics.js';
import { ObservedProvider } from './observed-provider.js';
import { ProviderRegistry } from './provider-registry.js';

const REFERENCE = { orderId: 'order-1', reference: 'shift-1' };

/** A provider that fails with this whatever it is asked. */
function failing(name: string, error: () => Error): ExchangeProvider {
  const fail = (): Promise<never> => Promise.reject(error());
  return {
    name,
    pairIds: ['USDCSOL'],
    quote: fail,
    create: fail,
    status: fail,
    settle: fail,
    cancel: fail,
    ping: fail,
  };
}

function observe(provider: ExchangeProvider) {
  const lines: { level: string; fields: Record<string, unknown> }[] = [];
  let now = 0;
  const at = (level: string) => (fields: Record<string, unknown>) => void lines.push({ level, fields });
  const observed = new ObservedProvider(provider, () => now, { warn: at('warn'), error: at('error') });
  return { observed, lines, later: (ms: number) => (now += ms) };
}

async function errors(provider: string, kind: string): Promise<number> {
  const { values } = await providerErrors.get();
  const of = values.filter(({ labels }) => labels.provider === provider && labels.kind === kind);
  return of.reduce((sum, { value }) => sum + value, 0);
}

describe('the errors of a provider', () => {
  it.each([
    ['away', () => new ProviderUnavailable('it is away'), 'warn'],
    ['contradiction', () => new ProviderUnavailable('another address', 'contradiction'), 'error'],
    ['refused', () => new ProviderRefused('never', null), 'warn'],
    ['unexpected', () => new TypeError('x is undefined'), 'error'],
  ])('of kind %s are passed on, counted and logged', async (kind, error, level) => {
    const { observed, lines } = observe(failing(`p-${kind}`, error));
    await expect(observed.status(REFERENCE)).rejects.toEqual(error());
    expect(await errors(`p-${kind}`, kind)).toBe(1);
    expect(lines).toEqual([
      { level, fields: expect.objectContaining({ operation: 'status', kind, order_id: 'order-1' }) },
    ]);
  });

  it.each<[string, () => Error]>([
    ['invalid', () => DomainError.invalid({ amount: ['is too small'] })],
    ['refused', () => new ProviderRefused('is none', 'withdraw_address')],
    ['later', () => new ProviderUnavailable('not yet', 'later')],
  ])('that are not for the operator (%s) are counted alone', async (kind, error) => {
    const { observed, lines } = observe(failing(`c-${kind}`, error));
    await expect(observed.quote('USDCSOL', '1')).rejects.toEqual(error());
    expect(await errors(`c-${kind}`, kind)).toBe(1);
    expect(lines).toEqual([]);
  });

  it('are logged once a minute while it is away, whatever order asks, and for each order when it contradicts itself', async () => {
    const away = observe(failing('q', () => new ProviderUnavailable('it is away')));
    const lying = observe(failing('q', () => new ProviderUnavailable('another address', 'contradiction')));
    for (const { observed } of [away, lying])
      for (let i = 0; i < 10; i += 1)
        await observed.status({ ...REFERENCE, orderId: `order-${i % 2}` }).catch(() => undefined);
    expect(away.lines).toHaveLength(1);
    expect(lying.lines).toHaveLength(2);
    away.later(60_000);
    await away.observed.status(REFERENCE).catch(() => undefined);
    expect(away.lines).toHaveLength(2);
  });
});

describe('the registry', () => {
  const one = failing('one', () => new Error());
  const two = failing('two', () => new Error());

  it('has a provider for new orders, and those of former ones', () => {
    const registry = new ProviderRegistry([one, two], 'two');
    expect(registry.current).toBe(two);
    expect(registry.of('one')).toBe(one);
  });

  it('says so when there is none', () => {
    expect(() => new ProviderRegistry([one], null).current).toThrow('No exchange provider is configured');
    expect(() => new ProviderRegistry([one], null).current).toThrow(DomainError);
    expect(() => new ProviderRegistry([one], 'gone').current).toThrow(DomainError);
    expect(() => new ProviderRegistry([one], 'one').of('gone')).toThrow(ProviderUnavailable);
  });
});
