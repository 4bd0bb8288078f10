import { describe, expect, it } from '@jest/globals';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Wakeable } from './wakeable.js';

describe('wakeable work', () => {
  it('runs once more after a wake during a run, and never twice at a time', async () => {
    let runs = 0;
    let atATime = 0;
    let most = 0;
    const work = new Wakeable(
      async () => {
        runs++;
        most = Math.max(most, ++atATime);
        await nextTurn();
        atATime--;
      },
      () => undefined,
    );
    work.wake();
    work.wake();
    work.wake();
    await work.stop();
    expect({ runs, most }).toEqual({ runs: 1, most: 1 });
  });

  it('takes a wake that comes while a run ends', async () => {
    let runs = 0;
    const work: Wakeable = new Wakeable(
      async () => {
        if (++runs < 3) work.wake();
        await nextTurn();
      },
      () => undefined,
    );
    work.wake();
    while (runs < 3) await nextTurn();
    await work.stop();
    expect(runs).toBe(3);
  });

  it('goes on after a run that fails, and stops for good', async () => {
    const failures: unknown[] = [];
    let runs = 0;
    const work = new Wakeable(
      async () => {
        runs++;
        await Promise.reject(new Error('unavailable'));
      },
      (error) => failures.push(error),
    );
    work.wake();
    await nextTurn();
    work.wake();
    await work.stop();
    work.wake();
    await nextTurn();
    expect(runs).toBe(2);
    expect(failures).toHaveLength(2);
  });
});
