import { beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { RecordedEvent } from '../../../platform/event-store/port.js';
import { deriveId } from '../../../kernel/ids.js';
import { fromMinorUnits, toMinorUnits } from '../../../kernel/money.js';
import { onTestDatabase } from '../../../../test/support/postgres.js';
import { recorded } from '../../../../test/support/recorded.js';
import { decodeCursor } from '../../../platform/postgres/page-cursor.js';
import { Deactivations } from '../deactivation/deactivations.store.js';
import { PayoutsView, type PayoutFilter } from './payouts.view.js';
import { ShadowTables } from '../../../platform/projections/shadow-tables.js';
import { applyPayoutEvents, payoutViews } from './payouts-projection.view.js';

const db = onTestDatabase();

beforeEach(() => db.database.query('truncate payouts.payouts, payouts.balances, payouts.payout_intents'));

const id = (name: string): string => deriveId('views', name);

interface Story {
  readonly user: number;
  readonly amount: string;
  readonly minute: number;
  readonly end: 'pending' | 'received' | 'expired';
  readonly metadata: string;
}

const story: fc.Arbitrary<Story> = fc.record({
  user: fc.nat(3),
  amount: fc.integer({ min: 1, max: 10_000_000_000 }).map((minor) => fromMinorUnits(BigInt(minor))),
  minute: fc.nat(5),
  end: fc.constantFrom('pending', 'received', 'expired'),
  metadata: fc.constantFrom(
    '{}',
    '{"n":12345678901234567890}',
    '{"\\u0000":"\\ud800\\t\\\\"}',
    '{\n\t"a" : [ ]\r\n}',
  ),
});

interface Expected {
  readonly id: string;
  readonly story: Story;
  readonly createdAt: string;
  readonly json: string;
}

/** The events of a few users and payouts in a random valid order, with the expected views. */
function eventsOf(
  stories: readonly Story[],
  order: readonly number[],
  merchant: string,
): { events: RecordedEvent[]; payouts: Expected[] } {
  const events = [0, 1, 2, 3].map((user) =>
    recorded('user.created.v1', { user_id: id(`${merchant} user ${user}`), merchant_id: merchant }),
  );
  const ends: RecordedEvent[] = [];
  const payouts = stories.map((each, index): Expected => {
    const createdAt = new Date(Date.UTC(2026, 0, 1, 0, each.minute)).toISOString();
    const facts = {
      payout_id: id(`${merchant} payout ${index}`),
      merchant_id: merchant,
      user_id: id(`${merchant} user ${each.user}`),
      amount: each.amount,
      currency_code: 'USDC',
      transaction_hash: `0x"${index}\\`,
      custom_metadata: each.metadata,
      chain_id: 31337,
    };
    events.push(recorded('payout.reported.v1', { ...facts, created_at: createdAt, expires_at: createdAt }));
    const reason = each.end === 'expired' ? 'Not "found"\n' : null;
    if (each.end === 'received') {
      ends.push(
        recorded('payout.received.v2', { ...facts, log_index: 0, block_number: 1, received_at: createdAt }),
      );
    } else if (reason !== null) {
      ends.push(recorded('payout.expired.v1', { ...facts, reason, expired_at: createdAt }));
    }
    const fields = [
      ['id', facts.payout_id],
      ['user_id', facts.user_id],
      ['amount', facts.amount],
      ['currency_code', 'USDC'],
      ['status', each.end],
      ['transaction_hash', facts.transaction_hash],
      ['reason', reason],
    ].map(([key, value]) => `"${key}":${JSON.stringify(value)}`);
    const json = `{${fields.join(',')},"custom_metadata":${each.metadata},"created_at":"${createdAt}"}`;
    return { id: facts.payout_id, story: each, createdAt, json };
  });
  // Each outcome is at a random place after its report.
  ends.forEach((end, index) => {
    const reportedAt = events.findIndex(
      (event) => event.type === 'payout.reported.v1' && event.data['payout_id'] === end.data['payout_id'],
    );
    events.splice(
      reportedAt + 1 + ((order[index % order.length] ?? 0) % (events.length - reportedAt)),
      0,
      end,
    );
  });
  return { events, payouts };
}

function newestFirst(payouts: readonly Expected[]): Expected[] {
  return [...payouts].sort((a, b) => b.createdAt.localeCompare(a.createdAt) || (b.id < a.id ? -1 : 1));
}

const view = (): PayoutsView => new PayoutsView(db.database);

async function everyPage(filter: PayoutFilter, merchant: string): Promise<string[]> {
  const pages: string[] = [];
  let next: PayoutFilter | null = filter;
  while (next !== null) {
    const text: string = await view().page(merchant, next);
    pages.push(text);
    const cursor = (JSON.parse(text) as { next_cursor: string | null }).next_cursor;
    next = cursor === null ? null : { ...filter, page_cursor: decodeCursor(cursor)! };
  }
  return pages;
}

async function expectViews(payouts: readonly Expected[], pageSize: number, merchant: string): Promise<void> {
  const pages = await everyPage({ page_size: pageSize }, merchant);
  const bodies = pages.map((page) => page.slice('{"payouts":['.length, page.lastIndexOf('],"next_cursor"')));
  expect(bodies.filter((body) => body !== '').join(',')).toBe(
    newestFirst(payouts)
      .map(({ json }) => json)
      .join(','),
  );
  for (const user of [0, 1, 2, 3]) {
    const sum = (end: string): bigint =>
      payouts
        .filter(({ story: each }) => each.user === user && each.end === end)
        .reduce((total, { story: each }) => total + toMinorUnits(each.amount), 0n);
    expect(await view().findBalance(merchant, id(`${merchant} user ${user}`))).toEqual({
      confirmed: fromMinorUnits(sum('received')),
      pending: fromMinorUnits(sum('pending')),
      committed: fromMinorUnits(sum('received') + sum('pending')),
      currency_code: 'USDC',
    });
  }
}

const stories = fc.array(story, { maxLength: 25 });
const order = fc.array(fc.nat(1000), { minLength: 1, maxLength: 10 });
let run = 0;
const nextMerchant = (): string => id(`merchant of run ${(run += 1)}`);

describe('the read models of payouts', () => {
  it('are the same for batches of any size, even if batches are applied repeatedly', async () => {
    await fc.assert(
      fc.asyncProperty(
        stories,
        order,
        fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }),
        async (all, mix, sizes) => {
          const merchant = nextMerchant();
          const { events, payouts } = eventsOf(all, mix, merchant);
          for (let from = 0, step = 0; from < events.length; step += 1) {
            const batch = events.slice(from, (from += sizes[step % sizes.length]!));
            for (let delivery = 0; delivery < 2; delivery += 1) {
              await db.database.transaction((tx) => applyPayoutEvents(batch, tx));
            }
          }
          await db.database.transaction((tx) => applyPayoutEvents(events, tx));
          await expectViews(payouts, 7, merchant);
        },
      ),
      { numRuns: 25 },
    );
  });

  it('are the same after a rebuild', async () => {
    await fc.assert(
      fc.asyncProperty(stories, order, async (all, mix) => {
        const merchant = nextMerchant();
        const { events, payouts } = eventsOf(all, mix, merchant);
        const codec = {
          currentName: (type: string) => type,
          decode: async (page: readonly RecordedEvent[]) => page,
        };
        await db.database.transaction(async (tx) => {
          const shadow = await ShadowTables.create(tx, codec, payoutViews);
          for (let from = 0; from < events.length; from += 5) {
            await shadow.add(events.slice(from, from + 5));
            await shadow.settle();
          }
          await shadow.replaceLive();
        });
        await expectViews(payouts, 1000, merchant);
        await db.database.transaction((tx) => applyPayoutEvents(events, tx));
        await expectViews(payouts, 1000, merchant);
      }),
      { numRuns: 15 },
    );
  });

  it('contain the pending payouts of a user who is being deactivated, even if events are repeated', async () => {
    const merchant = nextMerchant();
    const end = { user: 0, amount: '1', minute: 0, metadata: '{}' } as const;
    const { events } = eventsOf(
      [
        { ...end, end: 'received' },
        { ...end, end: 'expired' },
      ],
      [0],
      merchant,
    );
    const user_id = id(`${merchant} user 0`);
    const [started, ended] = ['user.deactivation_started.v1', 'user.deactivated.v1'].map((type) =>
      recorded(type, { user_id }),
    );
    const intended = recorded('payout.intended.v1', { payout_id: id(`${merchant} intended`), user_id });
    const deactivations = new Deactivations(db.database);
    const found = async (...batch: readonly RecordedEvent[]) => {
      for (let delivery = 0; delivery < 2; delivery += 1)
        await db.database.transaction((tx) => applyPayoutEvents(batch, tx));
      return [await deactivations.find(user_id), (await deactivations.settled(10, null)).length];
    };
    const outcomes = events.filter(({ type }) => /received|expired/.test(type));
    expect(await found(...events.filter((each) => !outcomes.includes(each)))).toEqual([null, 0]);
    expect(await found(started!)).toEqual([{ pending: 2, intended: [] }, 0]);
    expect(await found(outcomes[0]!)).toEqual([{ pending: 1, intended: [] }, 0]);
    expect(await found(outcomes[1]!)).toEqual([{ pending: 0, intended: [] }, 1]);
    expect(await found(intended)).toEqual([{ pending: 0, intended: [intended.data['payout_id']] }, 1]);
    expect(await found(ended!)).toEqual([null, 0]);
    expect(await db.database.query('select from payouts.payout_intents')).toEqual([]);
  });
});
