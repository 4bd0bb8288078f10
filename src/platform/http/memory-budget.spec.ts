import { describe, expect, it } from '@jest/globals';
import { MemoryBudget } from './memory-budget.js';
import { RequestState } from './request-state.js';

const MIB = 1 << 20;

function requestOf(client: string): RequestState {
  return Object.assign(new RequestState(), { client });
}

describe('pages that wait for the memory of their client', () => {
  it('are served in the order of their arrival, as soon as there is room', async () => {
    const memory = new MemoryBudget(16 * MIB);
    const [first, other] = [requestOf('a'), requestOf('b')];
    expect(await memory.awaitResponse(first, 4 * MIB)).toBe(true);
    const served: number[] = [];
    const waiting = [2, 2, 1].map(async (size, place) => {
      const isServed = await memory.awaitResponse(requestOf('a'), size * MIB);
      if (isServed) served.push(place);
    });
    expect(await memory.awaitResponse(other, 4 * MIB)).toBe(true);
    expect(served).toEqual([]);
    memory.reserveResponse(first, 1000, false);
    await waiting[0];
    expect(served).toEqual([0]);
    memory.release(first);
    await waiting[1];
    expect(served).toEqual([0, 1]);
  });

  it('end without memory after a while, and at once where 256 wait', async () => {
    const memory = new MemoryBudget(16 * MIB, 50);
    const first = requestOf('a');
    await memory.awaitResponse(first, 4 * MIB);
    const waiting = Array.from({ length: 256 }, () => memory.awaitResponse(requestOf('a'), MIB));
    expect(await memory.awaitResponse(requestOf('a'), MIB)).toBe(false);
    expect(new Set(await Promise.all(waiting))).toEqual(new Set([false]));
    memory.release(first);
    expect(await memory.awaitResponse(requestOf('a'), 4 * MIB)).toBe(true);
  });

  it('take no memory once their client is gone', async () => {
    const memory = new MemoryBudget(16 * MIB);
    const [first, gone, last] = [requestOf('a'), requestOf('a'), requestOf('a')];
    await memory.awaitResponse(first, 4 * MIB);
    const waiting = [memory.awaitResponse(gone, 4 * MIB), memory.awaitResponse(last, 4 * MIB)];
    memory.release(gone);
    memory.release(first);
    expect(await Promise.all(waiting)).toEqual([false, true]);
  });
});
