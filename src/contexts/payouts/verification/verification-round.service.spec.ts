import { describe, expect, it } from '@jest/globals';
import type { NewCheck, PayoutChecks } from './payout-checks.store.js';
import type { Receipts } from './receipts.store.js';
import type { NextCheck, PendingPayout, VerificationQueue } from './verification-queue.store.js';
import { verificationDelay } from '../payouts.metrics.js';
import type { Closing, TransactionReceipt } from './verification.js';
import type { PayoutOutcomes } from './payout-outcomes.service.js';
import type { PayeeCache } from '../payouts/payouts.commands.js';
import { ChainUnavailable, NodeLimited, type ChainObservation, type ChainReader } from './chain.ports.js';
import { VerificationRound } from './verification-round.service.js';
import { payoutsConfig } from '../payouts.config.js';
import { chainConfig } from '../../../platform/config/config.js';

const START = Date.parse('2026-01-02T00:00:00Z');
const END = START + 3_600_000;
/** A time past the window by every clock. */
const FIRST = END + 600_000;
const CLOSING = { finding: 'not_found', head: 100, at: new Date(FIRST).toISOString() };
const HASH = `0x${'ab'.repeat(32)}`;
const PAYOUT: PendingPayout = {
  payoutId: 'p',
  userId: 'u',
  merchantId: 'm',
  hash: HASH,
  amountMinor: 1n,
  createdAt: new Date(START),
  expiresAt: new Date(END),
  usedLogs: new Set<number>(),
  item: { failures: 0, state: {} } as PendingPayout['item'],
};

/** Checks a payout whose transaction is in no block, on a chain with a margin of 60 s. */
async function check({
  afterFirstMs = 0,
  closing = null as Closing | null,
  notFinalAt = null as string | null,
  final = 101,
  finalAt = FIRST,
  receipts = new Map<string, TransactionReceipt | null>([[HASH, null]]),
  isDown = false,
  failure = new ChainUnavailable('no node can be relied on'),
  over = {} as Partial<PendingPayout>,
  outcome = 'written',
  used = false,
  findWallet = async (): Promise<string | null> => '0xw',
}) {
  const checks: NextCheck[] = [];
  const recorded: NewCheck[] = [];
  const expired: string[] = [];
  const observed: ChainObservation = {
    head: { number: 200, hash: '0xh', timestamp: (FIRST + afterFirstMs) / 1000 },
    final: { number: final, hash: '0xf', timestamp: finalAt / 1000 },
    receipts,
    node: 'node.example',
    refusals: [],
  };
  const read = async (): Promise<ChainObservation> => {
    if (isDown) throw failure;
    return observed;
  };
  const chain = { read, confirm: async () => [observed] } as unknown as ChainReader;
  const queue = {
    remove: async () => undefined,
    reschedule: async (all: readonly NextCheck[]) => void checks.push(...all),
  } as unknown as VerificationQueue;
  const outcomes = {
    receive: async () => (used ? 'used' : outcome),
    expire: async ({ payoutId }: PendingPayout) => {
      if (outcome === 'written') expired.push(payoutId);
      return outcome;
    },
  } as unknown as PayoutOutcomes;
  const round = new VerificationRound(
    payoutsConfig({}),
    { ...chainConfig({}), chainId: 8453, usdcAddress: '0xusdc', payoutExpiryMarginSeconds: 60 },
    chain,
    queue,
    { record: async (all: readonly NewCheck[]) => void recorded.push(...all) } as unknown as PayoutChecks,
    { keep: async () => undefined } as unknown as Receipts,
    outcomes,
    { findWallet } as unknown as PayeeCache,
  );
  const item = { ...PAYOUT.item, state: { closing, notFinalAt } };
  const running = round.run(
    { payouts: [{ ...PAYOUT, item, ...over }], now: new Date(FIRST + afterFirstMs), more: false },
    false,
  );
  if (isDown) await expect(running).rejects.toThrow(ChainUnavailable);
  const ended = isDown ? null : await running;
  return { checks, expired, recorded, ended };
}

describe('a payout whose window has ended, with a margin of 60 s and a check every second', () => {
  it('is checked again 60 s after the first check without a transfer, and no sooner', async () => {
    const { checks, expired, ended } = await check({});
    expect(checks).toMatchObject([{ delayMs: 60_000, closing: { finding: 'not_found', head: 101 } }]);
    expect([expired, ended]).toEqual([[], 0]);
  });

  it('gets a record of each check with finding, node and head', async () => {
    const recorded = { payoutId: 'p', number: 1, node: 'node.example', head: 200, confirmations: null };
    const expiring = { closing: CLOSING, afterFirstMs: 60_000 };
    expect((await check(expiring)).recorded).toEqual([{ ...recorded, finding: 'not_found' }]);
    const withoutResponse = { receipts: new Map<string, null>() };
    expect((await check(withoutResponse)).recorded).toEqual([{ ...recorded, finding: 'no_response' }]);
    expect((await check({ isDown: true })).recorded).toEqual([
      { ...recorded, finding: 'no_response', node: null, head: null },
    ]);
    expect((await check({ isDown: true, failure: new NodeLimited('429') })).recorded).toEqual([
      { ...recorded, finding: 'rate_limited', node: null, head: null },
    ]);
  });

  it('expires with a second check 60 s after the first', async () => {
    const { expired, ended } = await check({ closing: CLOSING, afterFirstMs: 60_000 });
    expect([expired, ended]).toEqual([['p'], 1]);
  });

  it.each<[string, Parameters<typeof check>[0]]>([
    ['on a second check 59 s after the first', { afterFirstMs: 59_000 }],
    ['while the final head has not moved since the first check', { afterFirstMs: 300_000, final: 100 }],
    ['without a usable response of the node', { afterFirstMs: 300_000, receipts: new Map() }],
  ])('does not expire %s', async (_, second) => {
    expect((await check({ closing: CLOSING, ...second })).expired).toEqual([]);
  });

  it.each(['early', 'row_changed'])('is checked again if its expiry results in %s', async (outcome) => {
    const { checks, expired, recorded } = await check({ closing: CLOSING, afterFirstMs: 60_000, outcome });
    const finding = outcome === 'early' ? 'not_found' : outcome;
    expect([expired, checks, recorded]).toMatchObject([[], [{ finding }], [{ finding }]]);
  });

  it('has the finding no_response if the user cannot be read, and no_wallet if there is no wallet', async () => {
    const checked = { closing: CLOSING, afterFirstMs: 60_000 };
    const failing = async (): Promise<never> => Promise.reject(new Error('forged'));
    expect((await check({ ...checked, findWallet: failing })).recorded).toMatchObject([
      { finding: 'no_response' },
    ]);
    const { recorded, expired } = await check({ ...checked, findWallet: async () => null });
    expect([recorded[0]!.finding, recorded[0]!.node, expired]).toEqual(['no_wallet', null, []]);
  });

  it('does not expire before a final block is 60 s after its window, even if the head is later', async () => {
    const { checks, expired } = await check({
      closing: CLOSING,
      afterFirstMs: 300_000,
      finalAt: END + 59_000,
    });
    expect([expired, checks[0]?.closing]).toEqual([[], undefined]);
  });
});

/** The transfer of {@link PAYOUT} in a final block of this age at the time of the check. */
function settled(blockMs: number): Map<string, TransactionReceipt> {
  const transfers = [{ token: '0xusdc', from: '0xs', to: '0xw', amountMinor: 1n, logIndex: 0 }];
  const place = {
    succeeded: true,
    blockNumber: 90,
    blockHash: '0xb',
    blockTime: (FIRST - blockMs) / 1000,
  };
  return new Map([[HASH, { ...place, transfers, source: { sha256: 'ff', text: null } }]]);
}

describe('a payout whose transfer seems to confirm another payout in the read model', () => {
  const over = { usedLogs: new Set([0]) };
  const closing = { ...CLOSING, finding: 'already_used' };

  it('is received after its window if no other payout has the claim, because rows can be forged', async () => {
    const { expired, recorded, ended } = await check({
      receipts: settled(9000),
      over,
      closing,
      afterFirstMs: 60_000,
    });
    expect([expired, recorded.map(({ finding }) => finding), ended]).toEqual([[], ['settled'], 1]);
  });

  it('is not received before its window ends, and then expires if another payout has the claim', async () => {
    const early = { ...over, expiresAt: new Date(FIRST + 600_000) };
    const waiting = await check({ receipts: settled(9000), over: early });
    expect([waiting.recorded.map(({ finding }) => finding), waiting.ended]).toEqual([['already_used'], 0]);
    const late = { receipts: settled(9000), over, closing, afterFirstMs: 60_000, used: true };
    expect((await check(late)).expired).toEqual(['p']);
  });
});

describe('the measured time from the finality of a transfer to its outcome', () => {
  const at = (beforeMs: number): Date => new Date(FIRST - beforeMs);
  const measured = async (): Promise<number> =>
    (await verificationDelay.get()).values.find(({ metricName }) => metricName?.endsWith('_sum'))!.value;

  it.each([
    ['since the report', 7000, null, 9000, 7],
    ['since the block of the transfer, which is later than the report', 90_000, null, 9000, 9],
    ['since the last check that found the transfer not final', 90_000, 4000, 9000, 4],
  ])('is at most the time %s', async (_, reportedMs, notFinalMs, blockMs, seconds) => {
    const before = await measured();
    const notFinalAt = notFinalMs === null ? null : at(notFinalMs).toISOString();
    const over = { createdAt: at(reportedMs) };
    const { checks, recorded } = await check({ receipts: settled(blockMs), over, notFinalAt });
    expect([checks, recorded.map(({ finding }) => finding)]).toEqual([[], ['settled']]);
    expect((await measured()) - before).toBeCloseTo(seconds, 0);
  });
});
