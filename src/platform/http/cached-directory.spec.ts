import { describe, expect, it } from '@jest/globals';
import { setTimeout as wait } from 'node:timers/promises';
import type { MerchantCredentials } from './merchant-directory.js';
import { CachedDirectory, FRESH_MS } from './cached-directory.js';

const ID = '0b8f5d0e-6a0e-4d4c-9a55-3f0f6ad0a001';

function credentials(status: MerchantCredentials['status'] = 'active'): MerchantCredentials {
  return { merchantId: ID, privateKeys: ['k'], status, ipAllowList: [] };
}

/** A directory over `results`, the last of which is given again and again; counts how often it was asked. */
function directoryOf(...results: (MerchantCredentials | null | Error)[]): {
  directory: CachedDirectory<MerchantCredentials>;
  asked: () => number;
} {
  let asked = 0;
  const directory = new CachedDirectory(async () => {
    const result = results[Math.min(asked++, results.length - 1)]!;
    await wait(5);
    if (result instanceof Error) throw result;
    return result;
  });
  return { directory, asked: () => asked };
}

describe('a directory in memory', () => {
  it('asks once for many requests at a time, and not again while fresh', async () => {
    const { directory, asked } = directoryOf(credentials());
    const found = await Promise.all(Array.from({ length: 50 }, () => directory.find(ID)));
    expect(found.every((each) => each?.merchantId === ID)).toBe(true);
    await directory.find(ID.toUpperCase());
    expect(asked()).toBe(1);
  });

  it('remembers unknown api keys, and refuses what is no uuid without asking', async () => {
    const { directory, asked } = directoryOf(null);
    expect(await directory.find(ID)).toBeNull();
    expect(await directory.find(ID)).toBeNull();
    expect(await directory.find('no uuid')).toBeNull();
    expect(asked()).toBe(1);
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

  it('goes by what it knows no longer when the process has stood still meanwhile', async () => {
    const { directory } = directoryOf(credentials(), credentials('suspended'));
    await directory.find(ID);
    expect((await directory.find(ID))?.status).toBe('active');
    // No timer has run when the next request is looked at.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, FRESH_MS + 50);
    expect((await directory.find(ID))?.status).toBe('suspended');
  });

  it('waits for no look-up that was begun longer ago than an entry may live', async () => {
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

  it('reports a failed look-up and asks again next time', async () => {
    const { directory } = directoryOf(new Error('unavailable'), credentials());
    await expect(directory.find(ID)).rejects.toThrow('unavailable');
    expect(await directory.find(ID)).not.toBeNull();
  });

  it('forgets a key two seconds after it was asked for, also when the look-up was slow', async () => {
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
