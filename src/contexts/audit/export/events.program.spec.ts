import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { someEvent } from '../../../../test/conformance/support.js';
import { testDatabase, type TestDatabase } from '../../../../test/support/postgres.js';
import { logPages } from '../../../platform/event-store/log-pages.js';
import { PostgresCopyEnd } from '../../../platform/event-store/copy-end.js';
import type { CopyEnd } from '../../../platform/event-store/port.js';
import { hashOfEvent } from '../ledger/event-leaf.js';
import { MerkleTree } from '../ledger/merkle-tree.js';
import type { SignedHead } from '../ledger/signed-head.js';
import { copyLog } from './events.program.js';
import { printTable } from '../../../platform/cli/output.js';

/**
 * Copies between two databases; test/e2e/audit/copied-log.extended.e2e.ts copies to EventStoreDB and back.
 */
describe('the copy of a log', () => {
  let databases: readonly [TestDatabase, TestDatabase];
  let source: PostgresCopyEnd;
  let target: PostgresCopyEnd;
  let head: SignedHead | null;

  beforeAll(async () => {
    databases = [await testDatabase(), await testDatabase()];
  });
  afterAll(() => Promise.all(databases.map((each) => each.drop())));
  beforeEach(async () => {
    head = null;
    for (const { database } of databases)
      await database.query(
        `truncate event_store.events; update event_store.log_identity set log_id = gen_random_uuid()`,
      );
    [source, target] = databases.map(({ database }) => new PostgresCopyEnd(database)) as [
      PostgresCopyEnd,
      PostgresCopyEnd,
    ];
  });

  const copy = () => copyLog(source, target, head, () => undefined);
  const write = (count: number, end = source): Promise<unknown> =>
    Promise.all(
      Array.from({ length: count }, () =>
        end.store.commit({
          appends: [
            { stream: `s-${randomUUID()}`, events: [someEvent(), someEvent()], expected: 'no_stream' },
          ],
        }),
      ),
    );
  async function leavesOf(end: PostgresCopyEnd): Promise<readonly string[]> {
    const leaves: string[] = [];
    for await (const page of logPages(end.store))
      leaves.push(...page.map((event) => hashOfEvent(event).toString('hex')));
    return leaves;
  }
  const headOver = async (size: number): Promise<SignedHead> => {
    const tree = new MerkleTree();
    for (const leaf of (await leavesOf(source)).slice(0, size)) tree.append(Buffer.from(leaf, 'hex'));
    return { size, root: tree.root.toString('hex') } as SignedHead;
  };

  it('has the same leaves and heads as the log', async () => {
    await write(400);
    head = await headOver(700);
    expect(await copy()).toMatchObject({ copied: 800, events: 800, merkle_root: (await headOver(800)).root });
    expect(await leavesOf(target)).toEqual(await leavesOf(source));
  });

  it('continues at the point where it was interrupted', async () => {
    await write(400);
    let pages = 0;
    const interrupted: CopyEnd = {
      store: target.store,
      identify: (logId) => target.identify(logId),
      add: async (after, events) => {
        pages += 1;
        if (pages > 1) throw new Error('interrupted');
        await target.add(after, events);
      },
    };
    await expect(copyLog(source, interrupted, head, () => undefined)).rejects.toThrow('interrupted');
    expect(await copy()).toMatchObject({ copied: 300, events: 800 });
    expect(await copy()).toMatchObject({ copied: 0, events: 800 });
  });

  it('retains the times of events to the millisecond', async () => {
    await write(600);
    const { database } = databases[0];
    await database.query(
      `update event_store.events set recorded_at = to_timestamp(1795000000) + position * interval '1 millisecond'`,
    );
    expect((await copy()).events).toBe(1200);
    expect(await leavesOf(target)).toEqual(await leavesOf(source));
  });

  it('has the original identity and accepts new events; the original log gets a new identity', async () => {
    await write(5);
    const logId = await source.store.identity();
    expect(await copy()).toMatchObject({ log_id: logId });
    expect(await target.store.identity()).toBe(logId);
    expect(await source.store.identity()).not.toBe(logId);
    await write(1, target);
    expect(await leavesOf(target)).toHaveLength(12);
  });

  it('can be copied back to the source, together with events that were appended to the copy', async () => {
    await write(5);
    await copy();
    await write(3, target);
    [source, target] = [target, source];
    expect(await copy()).toMatchObject({ copied: 6, events: 16 });
    await write(1, target);
    expect(await leavesOf(target)).toHaveLength(18);
  });

  it('is refused if the target has events of another log or events that the source lacks', async () => {
    await write(1);
    await write(1, target);
    await expect(copy()).rejects.toThrow('events of another log');
    await databases[1].database.query('truncate event_store.events');
    await copy();
    await write(1, target);
    await expect(copy()).rejects.toThrow('The copy has events that the log lacks');
  });

  it.each<[string, () => Promise<unknown>, string]>([
    [
      'the copy differs from the log',
      () => databases[1].database.query(`update event_store.events set data = '{"a":1}' where revision = 1`),
      'The copy differs from the log at position',
    ],
    [
      'the log differs from its signed head',
      async () => (head = { ...(await headOver(7)), root: '00' }),
      'first 7 events of the log contradict',
    ],
    [
      'the log ends before its newest signed head',
      async () => (head = { ...(await headOver(10)), size: 11 }),
      'events are missing',
    ],
    [
      'an event is appended to the log during the copy',
      async () => {
        const read = source.store.head.bind(source.store);
        let heads = 0;
        source.store.head = async () => {
          heads += 1;
          if (heads === 2) await write(1);
          return read();
        };
      },
      'still appends',
    ],
  ])('does not take over the identity of the log when %s', async (_what, change, why) => {
    await write(5);
    await copy();
    await source.identify(randomUUID());
    const identities = () => Promise.all([source, target].map(({ store }) => store.identity()));
    const before = await identities();
    await change();
    await expect(copy()).rejects.toThrow(why);
    expect(await identities()).toEqual(before);
  });
});

it('a table that is wider than the terminal is printed as a list of the fields of each row', () => {
  const rows = ['1', '2'].map((position) => ({ position, event: 'payout.reported.v1', operation: '' }));
  const list = rows.flatMap(({ position, event }) => ['', `position  ${position}`, `event     ${event}`]);
  expect(printTable(rows, 38)).toEqual(list);
  const table = ['', 'position  event               operation', '1         payout.reported.v1'];
  expect(printTable(rows, 39)).toEqual([...table, '2         payout.reported.v1']);
});
