import { describe, expect, it } from '@jest/globals';
import { setTimeout as wait } from 'node:timers/promises';
import { type MerchantCredentials, CachedDirectory, FRESH_MS } from './merchant-directory.js';

const ID = '0b8f5d0e-6a0e-4d4c-9a55-3f0f6ad0a001';

function credentials(status: MerchantCredentials['status'] = 'active'): MerchantCredentials {
  return { merchantId: ID, privateKeys: ['k'], status, ipAllowList: [] };
}

/** A directory over `results`, the last of which is repeated; counts its queries. */
function directoryOf(...results: (MerchantCredentials | null | Error)[]): {
  directory: CachedDirectory<MerchantCredentials>;
  queries: () => number;
} {
  let queries = 0;
  const directory = new CachedDirectory(async () => {
    const result = results[Math.min(queries++, results.length - 1)]!;
    await wait(5);
    if (result instanceof Error) throw result;
    return result;
  });
  return { directory, queries: () => queries };
}

describe('a directory in memory', () => {
  it('queries once for 50 concurrent requests, and not again while fresh', async () => {
    const { directory, queries } = directoryOf(credentials());
    const found = await Promise.all(Array.from({ length: 50 }, () => directory.find(ID)));
    expect(found.every((each) => each?.merchantId === ID)).toBe(true);
    await directory.find(ID.toUpperCase());
    expect(queries()).toBe(1);
  });

  it('remembers unknown api keys, and refuses what is no uuid without a query', async () => {
    const { directory, queries } = directoryOf(null);
    expect(await directory.find(ID)).toBeNull();
    expect(await directory.find(ID)).toBeNull();
    expect(await directory.find('no uuid')).toBeNull();
    expect(queries()).toBe(1);
  });

  it('notices a suspension within its freshness, also while in constant use', async () => {
    const { directory } = directoryOf(credentials(), credentials('suspended'));
    const until = performance.now() + FRESH_MS + 200;
    expect((await directory.find(ID))?.status).toBe('active');
    while (performance.now() < until) {
      await directory.find(ID);
      await wait(20);
    }
    expect((await directory.find(ID))?.status).toBe('suspended');
  });

  it('notices within its freshness that an unknown merchant was registered, and that a known one is gone', async () => {
    const registered = directoryOf(null, credentials());
    const gone = directoryOf(credentials(), null);
    await Promise.all([registered.directory.find(ID), gone.directory.find(ID)]);
    await wait(FRESH_MS + 50);
    expect(await registered.directory.find(ID)).not.toBeNull();
    expect(await gone.directory.find(ID)).toBeNull();
  });

  it('does not use an expired entry after the process was stalled', async () => {
    const { directory } = directoryOf(credentials(), credentials('suspended'));
    await directory.find(ID);
    expect((await directory.find(ID))?.status).toBe('active');
    // No timer ran before the next request.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, FRESH_MS + 50);
    expect((await directory.find(ID))?.status).toBe('suspended');
  });

  it('does not wait for a query that started longer ago than an entry is fresh', async () => {
    const results: ((found: MerchantCredentials) => void)[] = [];
    const directory = new CachedDirectory<MerchantCredentials>(
      () => new Promise((resolve) => results.push(resolve)),
    );
    const before = directory.find(ID);
    await wait(FRESH_MS + 50);
    const after = directory.find(ID);
    results[0]!(credentials());
    expect((await before)?.status).toBe('active');
    results[1]!(credentials('suspended'));
    expect((await after)?.status).toBe('suspended');
    expect((await directory.find(ID))?.status).toBe('suspended');
    expect(results).toHaveLength(2);
  });

  it('reports a failed query and retries at the next request', async () => {
    const { directory } = directoryOf(new Error('unavailable'), credentials());
    await expect(directory.find(ID)).rejects.toThrow('unavailable');
    expect(await directory.find(ID)).not.toBeNull();
  });

  it('forgets a key 2 seconds after its query started, even when the query was slow', async () => {
    const slow = [credentials(), credentials('suspended')];
    const directory = new CachedDirectory(async () => {
      const found = slow.shift() ?? null;
      if (slow.length === 1) await wait(FRESH_MS - 500);
      return found;
    });
    const began = performance.now();
    expect((await directory.find(ID))?.status).toBe('active');
    await wait(FRESH_MS + 100 - (performance.now() - began));
    expect((await directory.find(ID))?.status).toBe('suspended');
  });
});
