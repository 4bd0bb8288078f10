import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { onTestDatabase } from '../../../../test/support/postgres.js';
import { recorded } from '../../../../test/support/recorded.js';
import type { JsonObject, RecordedEvent } from '../../../platform/event-store/port.js';
import { deriveId } from '../../../kernel/ids.js';
import { createHash } from 'node:crypto';
import { WorkListCheck } from '../../../platform/projections/table-check.js';
import { Receipts, ReceiptsCheck } from './receipts.store.js';
import { VERIFICATION_WORK_LIST } from './verification-queue.store.js';
import { verificationSaga } from './verification.saga.js';

const CHAIN = 31337;

describe('the saga of verifications', () => {
  const db = onTestDatabase();
  let world = 0;

  const id = (name: string): string => deriveId('saga', String(world), name);
  const apply = (events: readonly RecordedEvent[]): Promise<void> =>
    db.database.transaction((tx) => verificationSaga(() => undefined).apply(events, tx));
  const activated = (user: number): RecordedEvent =>
    recorded('user.activated.v1', {
      user_id: id(`user ${user}`),
      merchant_id: id('merchant'),
      issuer_wallet_address: `0xWallet${user}`,
      activated_at: '2026-01-01T00:00:00.000Z',
    });
  const facts = (payout: number, user: number): JsonObject => ({
    payout_id: id(`payout ${payout}`),
    merchant_id: id('merchant'),
    user_id: id(`user ${user}`),
    amount: '1.5',
    currency_code: 'USDC',
    transaction_hash: ` 0x${String(payout % 3).repeat(62)}AB `,
    custom_metadata: '{}',
    chain_id: CHAIN,
  });
  const reported = (payout: number, user: number): RecordedEvent =>
    recorded('payout.reported.v1', {
      ...facts(payout, user),
      created_at: '2100-01-01T00:00:00.000Z',
      expires_at: '2100-01-02T00:00:00.000Z',
    });
  const ended = (payout: number, user: number, how: 'received' | 'expired'): RecordedEvent =>
    how === 'received'
      ? recorded('payout.received.v2', {
          ...facts(payout, user),
          log_index: payout,
          block_number: 1,
          received_at: 't',
        })
      : recorded('payout.expired.v1', { ...facts(payout, user), reason: 'r', expired_at: 't' });

  /** Returns the rows of the saga. `due`: the payout is to be checked now. */
  const tables = () =>
    db.database.query<{ payout_id: string; due: boolean }>(
      `select payout_id, user_id, chain_id, hash, amount_minor, expires_at, due_at <= now() as due
       from payouts.verifications join work.items on key = payout_id::text order by 1`,
    );

  it('writes the same rows however events are split, mixed and repeated', async () => {
    const story = fc.record({
      wallets: fc.uniqueArray(fc.nat(2)),
      payouts: fc.array(
        fc.record({ user: fc.nat(2), end: fc.constantFrom('pending', 'received', 'expired') }),
        { maxLength: 12 },
      ),
      order: fc.array(fc.nat(1000), { minLength: 24, maxLength: 24 }),
      sizes: fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 5 }),
    });
    await fc.assert(
      fc.asyncProperty(story, async ({ wallets, payouts, order, sizes }) => {
        world += 1;
        await db.database.query('truncate payouts.verifications, work.items');
        // In any order in which the outcome of each payout follows its report.
        const strands = [
          ...wallets.map((user) => [() => activated(user)]),
          ...payouts.map(({ user, end }, payout) => [
            () => reported(payout, user),
            ...(end === 'pending' ? [] : [() => ended(payout, user, end as 'received')]),
          ]),
        ];
        const events: RecordedEvent[] = [];
        for (let step = 0; strands.length > 0; step += 1) {
          const place = order[step % order.length]! % strands.length;
          events.push(strands[place]!.shift()!());
          if (strands[place]!.length === 0) strands.splice(place, 1);
        }
        for (let from = 0, step = 0; from < events.length; step += 1) {
          const batch = events.slice(from, (from += sizes[step % sizes.length]!));
          await apply(batch);
          await apply(batch.flatMap((event) => [event, event]));
        }
        await apply(events);
        const byId = (a: { payout_id: string }, b: { payout_id: string }): number =>
          a.payout_id < b.payout_id ? -1 : 1;
        const hash = (payout: number): string => `0x${String(payout % 3).repeat(62)}ab`;
        const all = payouts.map((each, payout) => ({ ...each, payout }));
        expect(await tables()).toEqual(
          all
            .filter(({ end }) => end === 'pending')
            .map(({ user, payout }) => ({
              payout_id: id(`payout ${payout}`),
              user_id: id(`user ${user}`),
              chain_id: String(CHAIN),
              hash: hash(payout),
              amount_minor: '1500000',
              expires_at: new Date('2100-01-02T00:00:00.000Z'),
              due: true,
            }))
            .sort(byId),
        );
      }),
      { numRuns: 30 },
    );
  });

  it('schedules a check of a new payout at once, and another when its user gets a wallet', async () => {
    world += 1;
    await db.database.query('truncate payouts.verifications, work.items');
    await apply([reported(0, 0), reported(1, 1)]);
    const due = async () => (await tables()).filter((row) => row.due).map(({ payout_id }) => payout_id);
    expect(await due()).toEqual([id('payout 0'), id('payout 1')].sort());
    await db.database.query(`update work.items set due_at = now() + interval '1 day'`);
    await apply([activated(1)]);
    expect(await due()).toEqual([id('payout 1')]);
  });

  const query = async <Row extends object>(
    sql: string,
    values: readonly unknown[],
  ): Promise<readonly Row[]> => (await db.pool.query<Row>(sql, [...values])).rows;

  describe('in an audit', () => {
    const codec = { currentName: (type: string) => type };
    const table = 'payouts.verifications';
    const audit = async (events: readonly RecordedEvent[], until: RecordedEvent): Promise<unknown> => {
      const check = new WorkListCheck(VERIFICATION_WORK_LIST, { query, codec, position: until.position });
      await check.add(events);
      return check.compare();
    };

    it('reports a missing row only for a pending payout reported before the checkpoint', async () => {
      world += 1;
      const [first, second, third] = [reported(1, 1), reported(2, 1), reported(3, 1)];
      const events = [first, second, third, ended(2, 1, 'expired')];
      await apply([first, second]);
      expect(await audit(events, second)).toEqual([{ table, rows: 1, different: 0, first: [] }]);
      await db.pool.query('delete from payouts.verifications where payout_id = any($1)', [
        [id('payout 1'), id('payout 2')],
      ]);
      const missing = `${table} ${id('payout 1')}: not on the list, and the events say that it is open`;
      expect(await audit(events, second)).toEqual([{ table, rows: 1, different: 1, first: [missing] }]);
    });
  });

  it('is audited along with the receipts, which must match their SHA-256', async () => {
    const sha256 = createHash('sha256').update('{"status":"0x1"}').digest('hex');
    await new Receipts(db.database).keep([{ sha256, text: '{"status":"0x1"}' }]);
    const audit = () => new ReceiptsCheck({ query }).compare();
    const table = 'payouts.receipts';
    expect(await audit()).toEqual([{ table, rows: 1, different: 0, first: [] }]);
    await db.pool.query(`update payouts.receipts set receipt = '{"status":"0x0"}'`);
    const altered = `payouts.receipts ${sha256}: it does not have that SHA-256, it was changed`;
    expect(await audit()).toEqual([{ table, rows: 1, different: 1, first: [altered] }]);
  });
});
