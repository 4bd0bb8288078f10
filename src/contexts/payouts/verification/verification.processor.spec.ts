import { afterEach, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { eventually } from '../../../../test/support/eventually.js';
import { systemClock } from '../../../kernel/clock.js';
import { ClockCheck } from '../../../platform/postgres/clock-check.js';
import type { Database } from '../../../platform/postgres/database.js';
import type { Claimed, PendingPayout, VerificationQueue } from './verification-queue.store.js';
import { VerificationProcessor } from './verification.processor.js';
import type { VerificationRound } from './verification-round.service.js';
import { payoutsConfig } from '../payouts.config.js';
import { storeConfig, chainConfig } from '../../../platform/config/config.js';

const CHAIN = { ...chainConfig({}), usdcAddress: '0xusdc' };

afterEach(() => {
  jest.restoreAllMocks();
});

it('a process with a wrong clock logs one error and claims no payouts until the clock is right', async () => {
  const error = jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
  const log = jest.spyOn(Logger.prototype, 'log').mockImplementation(() => undefined);
  let skewSeconds = 3600;
  let checks = 0;
  let claims = 0;
  const clock = new ClockCheck({ ...storeConfig({}), maxClockSkewSeconds: 1 }, systemClock, {} as Database);
  jest.spyOn(clock, 'skewSeconds').mockImplementation(async () => {
    checks += 1;
    return skewSeconds;
  });
  const queue = {
    claim: async (): Promise<Claimed> => {
      claims += 1;
      return { payouts: [], now: new Date(), more: false };
    },
  } as unknown as VerificationQueue;
  const config = { ...payoutsConfig({}), payoutCheckIntervalMs: 5 };
  const verifier = new VerificationProcessor(config, CHAIN, queue, {} as VerificationRound, clock);
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

it('a round keeps its payouts claimed until the round ends', async () => {
  const payout = {} as PendingPayout;
  const order: string[] = [];
  const queue = {
    claim: async (): Promise<Claimed> => ({
      payouts: order.length === 0 ? [payout] : [],
      now: new Date(),
      more: false,
    }),
    whileClaimed: async (payouts: readonly PendingPayout[], round: () => Promise<void>) => {
      expect(payouts).toEqual([payout]);
      order.push('claim kept');
      await round();
      order.push('claim released');
    },
  } as unknown as VerificationQueue;
  const round = { run: async () => void order.push('round') } as unknown as VerificationRound;
  const clock = { findFault: async () => null } as unknown as ClockCheck;
  const config = { ...payoutsConfig({}), payoutCheckIntervalMs: 5 };
  const [loop] = new VerificationProcessor(config, CHAIN, queue, round, clock).loops;
  loop!.start();
  try {
    await eventually(async () => order.length >= 3);
    expect(order).toEqual(['claim kept', 'round', 'claim released']);
  } finally {
    await loop!.stop();
  }
});

it('the next round begins at once after a round with outcomes, otherwise after a pause', async () => {
  const claims: number[] = [];
  const rounds: { readonly endedAt: number; readonly tookMs: number }[] = [];
  const queue = {
    claim: async (): Promise<Claimed> => {
      claims.push(performance.now());
      return { payouts: [{} as PendingPayout], now: new Date(), more: claims.length < 3 };
    },
    whileClaimed: async (_: unknown, round: () => Promise<number>) => round(),
  } as unknown as VerificationQueue;
  const run = async (): Promise<number> => {
    const began = performance.now();
    await new Promise((resolve) => setTimeout(resolve, 100));
    const endedAt = performance.now();
    return rounds.push({ endedAt, tookMs: endedAt - began }) - 1;
  };
  const clock = { findFault: async () => null } as unknown as ClockCheck;
  const config = { ...payoutsConfig({}), payoutCheckIntervalMs: 60_000 };
  const [loop] = new VerificationProcessor(
    config,
    CHAIN,
    queue,
    { run } as unknown as VerificationRound,
    clock,
  ).loops;
  loop!.start();
  try {
    await eventually(async () => rounds.length === 3);
    const rests = [0, 1].map((n) => claims[n + 1]! - rounds[n]!.endedAt);
    expect(rests[0]).toBeGreaterThan(2 * rounds[0]!.tookMs);
    expect(rests[1]).toBeLessThan(rests[0]!);
  } finally {
    await loop!.stop();
  }
});
