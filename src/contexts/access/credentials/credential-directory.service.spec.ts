import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { systemClock } from '../../../kernel/clock.js';
import type { ApiCaller, MerchantDirectory } from '../../../platform/http/merchant-directory.js';
import { merchant } from '../merchants/merchant.js';
import { CredentialDirectory, FRESH_MS } from './credential-directory.service.js';

const ID = '0b8f5d0e-6a0e-4d4c-9a55-3f0f6ad0a001';

function credentials(status: ApiCaller['status'] = 'active'): ApiCaller {
  return { merchantId: ID, privateKeys: ['k'], status, ipAllowList: [] };
}

/** The clock of the process, without timers, as a stalled process reads it when it continues. */
let now: number;
beforeEach(() => {
  now = 1000;
  jest.spyOn(performance, 'now').mockImplementation(() => now);
});
afterEach(() => void jest.restoreAllMocks());

/** The directory of merchants over a query of the index. The events of an unknown merchant cannot be loaded. */
function directoryOver(query: () => Promise<ApiCaller | null>): MerchantDirectory {
  let found: ApiCaller | null = null;
  const index = { isMerchant: async () => (found = await query()) !== null };
  const load = async (aggregate: object) => ({
    state: aggregate === merchant ? { status: found!.status, name: 'Shop' } : { credentials: [] },
  });
  return new CredentialDirectory(index as never, { load } as never, {} as never, systemClock).merchants;
}

/** A directory whose queries return `results` after `queryMs`, the last one repeatedly, and are counted. */
function directoryOf(results: readonly (ApiCaller | null | Error)[], queryMs = 0) {
  const query = jest.fn(async () => {
    const result = results[Math.min(query.mock.calls.length, results.length) - 1]!;
    await Promise.resolve();
    now += queryMs;
    if (result instanceof Error) throw result;
    return result;
  });
  return { directory: directoryOver(query), query };
}

describe('the credential directory', () => {
  it('queries the database once for 50 concurrent requests, and not again while the entry is fresh', async () => {
    const { directory, query } = directoryOf([credentials()]);
    const found = await Promise.all(Array.from({ length: 50 }, () => directory.find(ID)));
    expect(found.every((each) => each?.merchantId === ID)).toBe(true);
    await directory.find(ID.toUpperCase());
    expect(query).toHaveBeenCalledTimes(1);
  });

  it('caches unknown API keys, and refuses malformed keys without a query', async () => {
    const { directory, query } = directoryOf([null]);
    expect(await directory.find(ID)).toBeNull();
    expect(await directory.find(ID)).toBeNull();
    expect(await directory.find('no uuid')).toBeNull();
    expect(query).toHaveBeenCalledTimes(1);
  });

  it('finds a key that was copied with spaces and invisible characters', async () => {
    const { directory } = directoryOf([credentials()]);
    for (const copied of [
      ` ${ID}\u00a0`,
      `\ufeff${ID}\u200b`,
      ID.replace('-', '\u00ad-'),
      `\u202a${ID}\u202c`,
    ])
      expect((await directory.find(copied))?.merchantId).toBe(ID);
  });

  it.each([20, FRESH_MS + 1])(
    'notices a suspension within 2 seconds, with a request every %i ms',
    async (everyMs) => {
      const { directory } = directoryOf([credentials(), credentials('suspended')]);
      expect((await directory.find(ID))?.status).toBe('active');
      for (const until = now + FRESH_MS; now <= until; await directory.find(ID)) now += everyMs;
      expect((await directory.find(ID))?.status).toBe('suspended');
    },
  );

  it('detects within 2 seconds that an unknown merchant was registered and a known merchant removed', async () => {
    const registered = directoryOf([null, credentials()]);
    const gone = directoryOf([credentials(), null]);
    await Promise.all([registered.directory.find(ID), gone.directory.find(ID)]);
    now += FRESH_MS + 1;
    expect(await registered.directory.find(ID)).not.toBeNull();
    expect(await gone.directory.find(ID)).toBeNull();
  });

  it('starts a new query if the running query is more than 2 seconds old', async () => {
    const results: ((found: ApiCaller) => void)[] = [];
    const directory = directoryOver(() => new Promise((resolve) => results.push(resolve)));
    const before = directory.find(ID);
    now += FRESH_MS + 1;
    const after = directory.find(ID);
    results[0]!(credentials());
    expect((await before)?.status).toBe('active');
    results[1]!(credentials('suspended'));
    expect((await after)?.status).toBe('suspended');
    expect((await directory.find(ID))?.status).toBe('suspended');
    expect(results).toHaveLength(2);
  });

  it('reports a failed query and retries at the next request', async () => {
    const { directory } = directoryOf([new Error('unavailable'), credentials()]);
    await expect(directory.find(ID)).rejects.toThrow('unavailable');
    expect(await directory.find(ID)).not.toBeNull();
  });

  it('expires an entry 2 seconds after its query started, even when the query was slow', async () => {
    const { directory } = directoryOf([credentials(), credentials('suspended')], FRESH_MS - 500);
    expect((await directory.find(ID))?.status).toBe('active');
    now += 501;
    expect((await directory.find(ID))?.status).toBe('suspended');
  });
});
