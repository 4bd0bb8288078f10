import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { inParallel } from './in-parallel.js';

it('work in parallel runs on two items at a time and returns results in the order of the items', async () => {
  let running = 0;
  let most = 0;
  const results = await inParallel([30, 1, 20, 2, 10], 2, async (ms) => {
    most = Math.max(most, (running += 1));
    await sleep(ms);
    running -= 1;
    return ms * 2;
  });
  expect(results).toEqual([60, 2, 40, 4, 20]);
  expect(most).toBe(2);
  expect(await inParallel([], 2, () => Promise.reject(new Error('no item')))).toEqual([]);
});

it('work in parallel rejects with the first error', async () => {
  await expect(inParallel([1, 2, 3], 2, (n) => Promise.reject(new Error(`no ${n}`)))).rejects.toThrow('no 1');
});
