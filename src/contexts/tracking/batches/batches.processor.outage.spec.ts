import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { DisconnectableProxy, type Side } from '../../../../test/support/database/disconnectable-proxy.js';
import { eventItem, batchOf, type SentItem } from '../../../../test/support/tracking/event-batches.js';
import { ProcessingHarness, type TestWorker } from '../../../../test/support/tracking/processing-harness.js';
import { eventually } from '../../../../test/support/eventually.js';
import { Database } from '../../../platform/postgres/database.js';
import type { AcceptedBatch, AcceptedBatches } from './accepted-batches.store.js';
import { BatchesProcessor } from './batches.processor.js';

const TIMEOUT_MS = 200;
/** The worker may need a statement and its rollback, at most twice. */
const STOP_MS = 20 * TIMEOUT_MS;
const BATCHES = 12;

/** Messages of a round by a part of their text, in order. */
const MESSAGES = {
  'the reading of batches': 'octet_length(body)',
  'the begin with its locks': 'pg_try_advisory_xact_lock',
  'the insert of events': 'insert into tracking.events',
  'the marking of batches': 'new_items = done.bits',
  'the commit': 'commit\0',
} as const;
type Message = keyof typeof MESSAGES;

describe('the processing of batches', () => {
  let harness: ProcessingHarness;
  let proxy: DisconnectableProxy;
  let database: Database;
  let worker: TestWorker;
  let merchant: string;
  let sent: SentItem[];

  beforeAll(async () => {
    Logger.overrideLogger(false);
    harness = await ProcessingHarness.open();
  });
  afterAll(async () => {
    await harness.close();
    Logger.overrideLogger(['log', 'warn', 'error']);
  });
  beforeEach(async () => {
    proxy = new DisconnectableProxy(new URL(harness.db.url));
    const url = await proxy.open();
    database = await Database.connect({ url, poolSize: 3, timeoutMs: TIMEOUT_MS });
    worker = harness.worker(database);
    merchant = randomUUID();
    sent = [];
    for (let index = 0; index < BATCHES; index += 1) {
      // Half of each are repeats of the batch before.
      const items = [...sent.slice(-2), eventItem(), eventItem()];
      sent.push(...items.slice(-2));
      await harness.accept(merchant, items);
    }
  });
  afterEach(async () => {
    proxy.hangs = false;
    await worker.stop();
    await database.close();
    await proxy.close();
  });

  const every = (): unknown[] => sent.map((item) => item['event_id']).sort();
  const counted = async (): Promise<{ accepted: number; bits: number }> => {
    const [row] = await harness.db.database.query<{ accepted: number; bits: number }>(
      `select count(*) filter (where state = 'accepted')::int as accepted,
         coalesce(sum(bit_count(new_items)), 0)::int as bits
       from tracking.batches where merchant_id = $1`,
      [merchant],
    );
    return row!;
  };
  const ids = async (): Promise<unknown[]> =>
    (await harness.events(merchant)).map((event) => event['event_id']);
  /** Once: a second wake would open a connection that takes 5 s to time out. */
  const hanging = async (): Promise<void> => {
    let polledAt = -Infinity;
    await eventually(() => {
      // Again only where a statement took so long that the round was ended.
      if (performance.now() - polledAt > STOP_MS) {
        polledAt = performance.now();
        worker.wake();
      }
      return proxy.hangs;
    });
  };

  const places: readonly (readonly [Message, Side])[] = [
    ['the reading of batches', 'unacknowledged'],
    ['the begin with its locks', 'unacknowledged'],
    ['the insert of events', 'unacknowledged'],
    ['the commit', 'unsent'],
    ['the commit', 'unacknowledged'],
  ];

  it.each(places)('continues after the database hangs at %s (%s)', async (message, side) => {
    proxy.hangAt = { text: MESSAGES[message], side };
    await hanging();
    // A little longer than a statement waits.
    await sleep(1.1 * TIMEOUT_MS);
    proxy.hangs = false;
    await harness.settle([worker]);
    expect(await ids()).toEqual(every());
    expect(await counted()).toEqual({ accepted: 0, bits: sent.length });
  });

  it('is continued by another process if the database connection of the first process hangs', async () => {
    proxy.hangAt = { text: MESSAGES['the marking of batches'], side: 'unacknowledged' };
    await hanging();
    await harness.settle([harness.worker()]);
    expect(await ids()).toEqual(every());
    expect(await counted()).toEqual({ accepted: 0, bits: sent.length });
  });

  it('can be stopped while the database hangs', async () => {
    proxy.hangAt = { text: MESSAGES['the insert of events'], side: 'unacknowledged' };
    await hanging();
    await worker.stop();
    expect(proxy.hangs).toBe(true);
    await harness.settle([harness.worker()]);
    expect(await ids()).toEqual(every());
  });

  it('stops after the transaction in flight without losing events', async () => {
    worker.wake();
    await eventually(async () => (await counted()).accepted < BATCHES);
    await worker.stop();
    const { bits } = await counted();
    expect((await ids()).length).toBe(bits);
    worker.wake();
    worker.wake();
    await sleep(50);
    expect((await counted()).bits).toBe(bits);
    await harness.settle([harness.worker()]);
    expect(await ids()).toEqual(every());
    expect(await counted()).toEqual({ accepted: 0, bits: sent.length });
  });
});

it('only the transaction that locks a merchant has an idle timeout, of 30 s', async () => {
  const harness = await ProcessingHarness.open();
  const { database } = harness.db;
  let standstill: unknown;
  const transaction: Database['transaction'] = (work, options) =>
    database.transaction(async (tx, began) => {
      standstill = (await tx.query('show idle_in_transaction_session_timeout')).rows[0];
      return work(tx, began);
    }, options);
  const watched = Object.assign(Object.create(database) as Database, { transaction });
  await harness.accept(randomUUID(), [eventItem()]);
  await harness.settle([harness.worker(watched)]);
  expect(standstill).toEqual({ idle_in_transaction_session_timeout: '30s' });
  expect((await database.query('show idle_in_transaction_session_timeout'))[0]).toEqual({
    idle_in_transaction_session_timeout: '0',
  });
  await harness.close();
});

const [LOADED, LATE] = ['loaded', 'late'];

/** One merchant has more to process forever; the other comes when the run has begun. */
function processing(counted: string[]): BatchesProcessor {
  const batch: AcceptedBatch = {
    batch_id: 'any',
    received_at: new Date(),
    item_count: 1,
    body: Buffer.from(batchOf([eventItem()])),
  };
  const accepted: Pick<AcceptedBatches, 'merchants' | 'next' | 'process'> = {
    merchants: async () => (counted.length === 0 ? [LOADED] : [LOADED, LATE]),
    next: async (merchantId) => (merchantId === LATE && counted.includes(LATE) ? [] : [batch]),
    process: async (merchantId) => {
      await sleep(5);
      counted.push(merchantId);
      return 1;
    },
  };
  return new BatchesProcessor(accepted as AcceptedBatches);
}

let running: BatchesProcessor | null = null;
afterEach(() => running?.work.stop());

it('the batches of a new merchant are processed during the backlog of another merchant', async () => {
  const counted: string[] = [];
  running = processing(counted);
  running.work.start();
  await eventually(() => counted.includes(LATE));
});
