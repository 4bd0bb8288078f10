import { describe, expect, it } from '@jest/globals';
import { ProviderUnavailable, type ExchangeProvider } from './ports.js';
import { ProviderCalls } from './provider-calls.js';

const provider = { name: 'memory' } as ExchangeProvider;
const fails = async (): Promise<never> => {
  throw new ProviderUnavailable('it responds with 500');
};
const works = async (): Promise<string> => 'done';

function callsOf() {
  const calls = new ProviderCalls({ current: provider, of: () => provider });
  const outcome = (keyId: string | null, work: () => Promise<string>): Promise<string> =>
    calls.call('memory', keyId, work).catch((error: Error) => error.message);
  return { calls, outcome };
}

describe('calls of a provider', () => {
  it('that fail for callers of one key stop for that key alone', async () => {
    const { calls, outcome } = callsOf();
    for (let n = 0; n < 3; n += 1) expect(await outcome('a', fails)).toBe('it responds with 500');
    expect(await outcome('a', works)).toBe('memory was unavailable a moment ago');
    expect(await outcome('b', works)).toBe('done');
    expect(await outcome(null, works)).toBe('done');
    expect(calls.resting()).toEqual([]);
  });

  it('that fail for the service itself stop for all', async () => {
    const { calls, outcome } = callsOf();
    for (let n = 0; n < 3; n += 1) await outcome(null, fails);
    expect(calls.resting()).toEqual(['memory']);
    for (const keyId of [null, 'a'])
      expect(await outcome(keyId, works)).toContain('unavailable a moment ago');
  });
});
