import { describe, expect, it } from '@jest/globals';
import { ProviderRegistry } from '../adapters/provider-registry.js';
import { ProviderUnavailable, type ExchangeProvider } from './ports.js';
import { ProviderReadiness } from './provider-readiness.js';

function readinessWith(ping: () => Promise<void>): { readiness: ProviderReadiness; asked: () => number } {
  let asked = 0;
  const provider = {
    name: 'shop',
    ping: () => {
      asked += 1;
      return ping();
    },
  } as Partial<ExchangeProvider> as ExchangeProvider;
  return { readiness: new ProviderReadiness(new ProviderRegistry([provider], 'shop')), asked: () => asked };
}

describe('the readiness of the exchange', () => {
  it('says that there is no provider, and holds nothing up', async () => {
    const readiness = new ProviderReadiness(new ProviderRegistry([], null));
    expect(readiness.isConfigured).toBe(false);
    expect(await readiness.check()).toBe('no exchange provider is configured: no order can be made');
  });

  it('asks the provider once, however often it is asked itself', async () => {
    const { readiness, asked } = readinessWith(() => Promise.resolve());
    for (let i = 0; i < 5; i += 1) expect(await readiness.check()).toBeUndefined();
    expect(asked()).toBe(1);
  });

  it.each<[string, () => Promise<void>]>([
    ['fails', () => Promise.reject(new ProviderUnavailable('it is away'))],
    ['does not respond', () => new Promise(() => undefined)],
  ])('says so of a provider that %s, and holds nothing up', async (_, ping) => {
    const { readiness } = readinessWith(ping);
    expect(await readiness.check()).toBe('the exchange provider shop is away: no order can be made');
  });
});
