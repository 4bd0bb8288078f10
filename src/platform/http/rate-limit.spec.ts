import { expect, it } from '@jest/globals';
import { onTestDatabase } from '../../../test/support/postgres.js';
import { newId } from '../../kernel/ids.js';
import { CallerRateLimiter } from './rate-limit.js';

const db = onTestDatabase();

it.each([5, 100, 250, 1001])(
  'a limit of %i requests lets through exactly so many, for any number that arrive at once at two processes',
  async (limit) => {
    const keyedHash = { of: (...parts: readonly string[]) => parts.join(' ') };
    const processes = [1, 2].map(() => new CallerRateLimiter(db.pool, limit, keyedHash));
    const caller = newId();
    let allowed = 0;
    for (let sent = 0; sent < limit + 60; sent += 30) {
      const burst = Array.from({ length: 30 }, async (_, n) => processes[n % 2]!.take(caller));
      allowed += (await Promise.all(burst)).filter((quota) => quota.allowed).length;
    }
    // Points that one process leased and the other lacked are still available.
    for (const process of processes) while ((await process.take(caller)).allowed) allowed += 1;
    expect(allowed).toBe(limit);
  },
);
