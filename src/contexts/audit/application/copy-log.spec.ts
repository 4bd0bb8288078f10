import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { someEvent } from '../../../../test/conformance/support.js';
import { testDatabase, type TestDatabase } from '../../../../test/support/postgres.js';
import { logPages } from '../../../platform/event-store/log-pages.js';
import { EventStoreUnavailable } from '../../../platform/event-store/port.js';
import { PostgresCopyEnd } from '../../../platform/event-store/postgres/postgres-copy-end.js';
import { hashOfEvent } from '../domain/event-leaf.js';
import { MerkleTree } from '../domain/merkle-tree.js';
import type { SignedHead } from '../domain/signed-head.js';
import { LogCopy } from './copy-log.js';

/** Between two databases; to EventStoreDB and back, with a whole service, is test/e2e/audit/copied-log.extended.e2e.ts. */
describe('a copy of a log', () => {
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
        `truncate event_store.events; alter table event_store.events drop constraint if exists log_moved;
         update event_store.log_identity set log_id = gen_random_uuid()`,
      );
    [source, target] = databases.map(({ database }) => new PostgresCopyEnd(database)) as [
      PostgresCopyEnd,
      PostgresCopyEnd,
    ];
  });

  const copy = (switches = false) =>
    new LogCopy(source, target, { newest: async () => head }, () => undefined).run(switches);
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

  it('has the same leaves, and continues with what came since', async () => {
    await write(400);
    head = await headOver(700);
    expect(await copy()).toMatchObject({ copied: 800, events: 800, signed: 700, switched: false });
    await write(10);
    expect(await copy()).toMatchObject({ copied: 20, events: 820 });
    expect(await copy()).toMatchObject({ copied: 0, events: 820 });
    expect(await leavesOf(target)).toEqual(await leavesOf(source));
    expect((await copy()).merkle_root).toBe((await headOver(820)).root);
  });

  it('retains times to the millisecond', async () => {
    await write(600);
    const { database } = databases[0];
    await database.query(
      `update event_store.events set recorded_at = to_timestamp(1795000000) + position * interval '1 millisecond'`,
    );
    expect((await copy()).events).toBe(1200);
  });

  it('refuses appends to the former log once it has moved, and has its identity', async () => {
    await write(5);
    const logId = await source.store.identity();
    expect(await copy(true)).toMatchObject({ log_id: logId, switched: true });
    await expect(write(1)).rejects.toThrow(EventStoreUnavailable);
    expect(await target.store.identity()).toBe(logId);
    expect(await source.store.identity()).not.toBe(logId);
    await write(1, target);
    expect(await leavesOf(target)).toHaveLength(12);
  });

  it('moves back, with what came since', async () => {
    await write(5);
    await copy(true);
    await write(3, target);
    [source, target] = [target, source];
    expect(await copy(true)).toMatchObject({ copied: 6, events: 16, switched: true });
    await write(1, target);
    expect(await leavesOf(target)).toHaveLength(18);
  });

  it('stores responses in a database whose log has moved', async () => {
    await write(1);
    await copy(true);
    const response = { scope: 'm', key: randomUUID(), fingerprint: 'f', status: 201, body: '' };
    expect(await source.store.commit({ appends: [], response })).toMatchObject({ outcome: 'committed' });
  });

  it('refuses a target with another log, or with more', async () => {
    await write(1);
    await write(1, target);
    await expect(copy()).rejects.toThrow('events of another log');
    await databases[1].database.query('truncate event_store.events');
    await copy();
    await write(1, target);
    await expect(copy()).rejects.toThrow('is ahead of the one that is copied from');
  });

  it('accepts appends again when the copy is not the log', async () => {
    await write(5);
    await copy();
    await databases[1].database.query(`update event_store.events set data = '{"a":1}' where revision = 1`);
    await expect(copy(true)).rejects.toThrow('The copy differs from the log at position');
    await write(1);
  });

  it('refuses a log that is not the one of the signed head', async () => {
    await write(5);
    head = { ...(await headOver(7)), root: '00' };
    await expect(copy()).rejects.toThrow('not the one of the signed head over 7 events');
  });

  it('does not move a log that ends before its newest signed head', async () => {
    await write(5);
    head = { ...(await headOver(10)), size: 11 };
    await expect(copy(true)).rejects.toThrow('events are missing');
    await write(1);
  });

  it('does not move the log while another session reads the events, and holds no one up', async () => {
    await write(5);
    await databases[0].database.transaction(async (reader) => {
      await reader.query('select from event_store.events limit 1');
      await expect(copy(true)).rejects.toThrow('Another session reads the table of events for long');
      await write(1);
    });
    expect(await copy(true)).toMatchObject({ events: 12, switched: true });
  });

  it('opens the log again when something was appended while appends should be refused', async () => {
    await write(5);
    await copy();
    const { store } = source;
    source.fence = async () => undefined;
    const read = store.head.bind(store);
    let heads = 0;
    store.head = async () => {
      heads += 1;
      if (heads === 2) await write(1);
      return read();
    };
    await expect(copy(true)).rejects.toThrow('still appends');
    await write(1);
  });
});
