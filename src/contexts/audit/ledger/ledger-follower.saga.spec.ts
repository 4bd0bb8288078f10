import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { eventually } from '../../../../test/support/eventually.js';
import { freshReport } from '../../../../test/support/fresh-report.js';
import {
  NEWER,
  OTHER,
  SubscriptionHarness,
  RELEVANT,
} from '../../../../test/support/event-store/subscription-harness.js';
import type { RecordedEvent } from '../../../platform/event-store/port.js';
import { hashOfEvent } from './event-leaf.js';
import { checkLedger, stored, TRUSTING } from '../../../../test/support/audit/signed-log.js';
import { inclusionRanges, provesInclusion, MerkleTree } from './merkle-tree.js';
import { Heads } from './heads.store.js';
import { beginLedger, extendLedger, Ledger } from './ledger.store.js';
import { HealthRegistry } from '../../../platform/telemetry/health.js';
import { LEDGER, LedgerAnchor, ledgerFollower } from './ledger-follower.saga.js';

const anchor = (): LedgerAnchor =>
  new LedgerAnchor(new HealthRegistry(), { last: async () => null }, { readAll: async () => [] });

describe('the ledger follower', () => {
  let harness: SubscriptionHarness;
  let ledger: Ledger;

  beforeAll(async () => {
    harness = await SubscriptionHarness.open();
    ledger = new Ledger(harness.database.database);
    const logId = await harness.writer.identity();
    await harness.database.database.transaction((tx) => beginLedger(tx, logId, harness.sealer));
  });
  afterEach(() => harness.end());
  afterAll(() => harness.database.drop());

  const log = (): Promise<readonly RecordedEvent[]> => harness.writer.readAll(null, 100_000);
  const covers = async (count: number): Promise<boolean> => (await ledger.state())?.tree.size === count;
  /** The findings of a check without heads. */
  const findings = async (): Promise<readonly object[]> => {
    const state = await ledger.state();
    const leaves = (index: number, limit: number) => ledger.leaves(index, limit);
    const pages = (async function* () {
      yield await log();
    })();
    return (await checkLedger(pages, { state, leaves, heads: stored([]), trust: TRUSTING })).findings;
  };
  const follow = (): void =>
    harness
      .process(ledgerFollower(harness.writer, harness.sealer, anchor(), async () => null))
      .runner.start();

  it('adds events of any type once and in order, while two processes start and stop', async () => {
    await harness.write(30);
    follow();
    follow();
    for (let round = 0; round < 5; round += 1) {
      await Promise.all([
        harness.write(7),
        harness.write(5, OTHER),
        harness.write(3, NEWER),
        harness.write(1),
      ]);
      if (round === 2) await harness.end();
      if (round === 3) follow();
    }
    const events = await log();
    await eventually(() => covers(events.length));
    expect(events.map(({ type }) => type)).toContain(NEWER);
    const tree = new MerkleTree();
    for (const event of events) tree.append(hashOfEvent(event));
    expect((await ledger.state())!.tree.root).toEqual(tree.root);
    expect((await ledger.leaves(0, 1000)).map(({ position }) => position)).toEqual(
      events.map(({ position }) => position),
    );
    expect(await findings()).toEqual([]);
  });

  it('adds leaves whose indexes are found by event position, and whose proofs are valid', async () => {
    const events = await log();
    const positions = events.map(({ position }) => position);
    expect(await ledger.indexes([...positions, '0', '999999999'])).toEqual([...positions.keys(), null, null]);
    const { tree } = (await ledger.state())!;
    for (const index of [0, 1, 17, tree.size - 1]) {
      const path = await ledger.path(inclusionRanges(index, tree.size));
      const leaf = { index, hash: hashOfEvent(events[index]!) };
      expect(provesInclusion(leaf, tree, path)).toBe(true);
    }
  });

  it('adds no leaf for an event at a negative position, which is reported and cannot be read', async () => {
    for (const position of ['-1', '-9223372036854775808']) {
      const { pool } = harness.database;
      await pool.query(
        `insert into event_store.events select $1, stream, 99, gen_random_uuid(), type, data, metadata, now()
         from event_store.events order by position desc limit 1`,
        [position],
      );
      const [first] = await harness.writer.readAll(null, 1);
      expect(await findings()).toEqual([expect.objectContaining({ kind: 'inserted', position })]);
      expect(first).toMatchObject({ position, isForged: true });
      await expect(harness.writer.readStream(first!.stream)).rejects.toThrow('outside the service');
      await pool.query('delete from event_store.events where position = $1', [position]);
    }
  });

  it('continues from the stored state after a rollback and in another process', async () => {
    const logId = await harness.writer.identity();
    const extend = (from: number, fails = false): Promise<unknown> =>
      harness.database.database
        .transaction(async (tx) => {
          const leaves = (await log()).slice(from).map((event) => {
            return { position: event.position, hash: hashOfEvent(event) };
          });
          await extendLedger(tx, harness.sealer, { logId }, leaves);
          if (fails) throw new Error('killed');
        })
        .catch((error: Error) => error.message);
    const { length } = await log();
    await harness.write(3);
    expect(await extend(length, true)).toBe('killed');
    expect(await covers(length)).toBe(true);
    await extend(length);
    await harness.write(2);
    await extend(length + 3);
    await harness.write(4);
    // Two processes apply the same events concurrently, each of them twice.
    await Promise.all([extend(length), extend(length)]);
    expect(await covers(length + 9)).toBe(true);
    expect(await findings()).toEqual([]);
    const { pool } = harness.database;
    await pool.query('update event_store.checkpoints set position = $2 where name = $1', [
      LEDGER,
      (await log()).at(-1)!.position,
    ]);
  });

  it('stops and logs an error when another event log replaces the log', async () => {
    const error = jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
    const { length } = await log();
    const identity = async (): Promise<string> => randomUUID();
    const { runner } = harness.process(
      ledgerFollower({ identity }, harness.sealer, anchor(), async () => null),
    );
    runner.start();
    await harness.write(1, RELEVANT);
    await eventually(() =>
      JSON.stringify(error.mock.calls).includes('a new log needs an empty schema audit'),
    );
    expect(await covers(length)).toBe(true);
    error.mockRestore();
  });

  describe('after the newest events of the log were deleted while the service runs', () => {
    beforeAll(() => void jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined));
    afterAll(() => void jest.restoreAllMocks());

    /** The check of a process that follows the log. */
    function started(): () => Promise<{ readonly status: string; readonly detail?: string } | undefined> {
      const health = new HealthRegistry();
      const own = new LedgerAnchor(health, ledger, harness.writer);
      harness.process(ledgerFollower(harness.writer, harness.sealer, own, async () => null)).runner.start();
      return async () => (await freshReport(() => health.report())).checks['ledger'];
    }
    const deleted = async (events: number): Promise<string> => {
      const { pool } = harness.database;
      await pool.query(
        `create table kept as select * from event_store.events order by position desc limit ${events}`,
      );
      await pool.query('delete from event_store.events where position in (select position from kept)');
      const { rows } = await pool.query<{ last: string }>('select max(position) as last from kept');
      return rows[0]!.last;
    };

    it.each([1, 5])(
      'reports the deletion after later appends and in a new process, until the events (%s) are restored',
      async (count) => {
        const check = started();
        await harness.write(9);
        const { length } = await log();
        await eventually(() => covers(length));
        expect(await check()).toEqual({ status: 'ok' });
        const gone = await deleted(count);
        await harness.write(20);
        const detail = `the event at position ${gone} was recorded and is not in the log`;
        expect(await check()).toEqual({ status: 'unavailable', detail });
        await harness.end();
        const again = started();
        await harness.write(20);
        expect(await again()).toEqual({ status: 'unavailable', detail });
        expect(await covers(length)).toBe(true);
        await harness.database.pool.query(
          'insert into event_store.events select * from kept; drop table kept',
        );
        await eventually(() => covers(length + 40));
        await eventually(async () => (await again())?.status === 'ok');
      },
    );

    it('accepts the loss once an operator begins another ledger', async () => {
      const check = started();
      await deleted(2);
      expect(await check()).toMatchObject({ status: 'unavailable' });
      await harness.end();
      await new Heads(harness.database.database).begin(harness.sealer, await harness.writer.identity(), {
        emptied: true,
      });
      const next = started();
      const { length } = await log();
      await eventually(() => covers(length));
      expect(await next()).toEqual({ status: 'ok' });
    });
  });
});
