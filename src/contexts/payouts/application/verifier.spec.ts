import { afterEach, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { eventually } from '../../../../test/support/eventually.js';
import { ClockOff, type ClockCheck } from '../../../platform/postgres/clock-check.js';
import type { Claimed, PendingPayouts } from '../store/pending-payouts.js';
import { Verifier } from './verifier.js';
import type { VerificationRound } from './verification-round.js';

afterEach(() => {
  jest.restoreAllMocks();
});

it('a process whose clock is off claims no payouts, logs it once, and continues when the clock is right', async () => {
  const error = jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
  const log = jest.spyOn(Logger.prototype, 'log').mockImplementation(() => undefined);
  let skewSeconds = 3600;
  let checks = 0;
  let claims = 0;
  const clock = {
    check: async () => {
      checks += 1;
      if (skewSeconds !== 0) throw new ClockOff(skewSeconds);
    },
  } as unknown as ClockCheck;
  const table = {
    claim: async (): Promise<Claimed> => {
      claims += 1;
      return { payouts: [], now: new Date(), more: false };
    },
  } as unknown as PendingPayouts;
  const config = { chainId: 31337, usdcAddress: '0xusdc', payoutCheckIntervalMs: 5 };
  const verifier = new Verifier(config, table, {} as VerificationRound, clock);
  const [loop] = verifier.loops;
  loop!.start();
  try {
    await eventually(async () => checks >= 5);
    expect(claims).toBe(0);
    expect(error.mock.calls).toEqual([
      [{ msg: 'verification of payouts paused', reason: "the clock is 3600 s ahead of the database's" }],
    ]);
    skewSeconds = 0;
    await eventually(async () => claims >= 2);
    expect(log).toHaveBeenCalledTimes(1);
    skewSeconds = -3600;
    await eventually(async () => error.mock.calls.length === 2);
    const until = claims;
    const seen = checks;
    await eventually(async () => checks >= seen + 5);
    expect(claims).toBe(until);
  } finally {
    await loop!.stop();
  }
});
