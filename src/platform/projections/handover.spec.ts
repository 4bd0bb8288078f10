import { describe, expect, it } from '@jest/globals';
import { Handover } from './handover.js';

describe('a handover', () => {
  it('hands on every value in order, one at a time, and what was put before the end', async () => {
    const handover = new Handover<number>();
    const taken: number[] = [];
    let most = 0;
    let put = 0;
    const taking = (async () => {
      for await (const value of handover) {
        taken.push(value);
        most = Math.max(most, put - taken.length);
        await new Promise((resolve) => setImmediate(resolve));
      }
    })();
    for (let value = 0; value < 50; value += 1) {
      await handover.put(value);
      put += 1;
    }
    handover.end();
    await taking;
    expect(taken).toEqual(Array.from({ length: 50 }, (_, value) => value));
    expect(most).toBeLessThanOrEqual(1);
  });

  it('ends without a value, and lets go of whoever puts one afterwards', async () => {
    const handover = new Handover<number>();
    await handover.put(1);
    const waiting = handover.put(2);
    handover.end();
    await waiting;
    const taken: number[] = [];
    for await (const value of handover) taken.push(value);
    expect(taken).toEqual([1]);
  });
});
