import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import type { Side } from '../../../../test/support/crash-road.js';
import { CuttableRoad } from '../../../../test/support/cuttable-road.js';
import { eventItem, type SentItem } from '../../../../test/support/event-batches.js';
import { ProcessingLab, type TestWorker } from '../../../../test/support/tracking/processing-lab.js';
import { Database } from '../../../platform/postgres/database.js';
import { eventually } from '../../../../test/support/eventually.js';

const PATIENCE_MS = 200;
/** What the worker may take to give up: a statement and the rollback after it, at most twice. */
const GIVES_UP_MS = 20 * PATIENCE_MS;
const BATCHES = 12;

/** Messages of a turn, by what their texts hold, in their order. */
const MESSAGES = {
  'the look for who waits': 'with recursive waiting',
  'the reading of batches': 'octet_length(body)',
  'the begin with its locks': 'pg_try_advisory_xact_lock',
  'the insert of ids': 'insert into tracking.event_ids',
  'the insert of events': 'insert into tracking.events\n',
  'the marking of batches': 'new_items = done.bits',
  'the commit': 'commit\0',
} as const;
type Message = keyof typeof MESSAGES;

describe('processing', () => {
  let lab: ProcessingLab;
  let road: CuttableRoad;
  let database: Database;
  let worker: TestWorker;
  let merchant: string;
  let sent: SentItem[];

  beforeAll(async () => {
    Logger.overrideLogger(false);
    lab = await ProcessingLab.open();
  });
  afterAll(async () => {
    await lab.close();
    Logger.overrideLogger(['log', 'warn', 'error']);
  });
  beforeEach(async () => {
    road = new CuttableRoad(new URL(lab.db.url));
    const url = await road.open();
    database = await Database.connect({ url, poolSize: 3, timeoutMs: PATIENCE_MS });
    worker = lab.worker(database);
    merchant = randomUUID();
    sent = [];
    for (let index = 0; index < BATCHES; index += 1) {
      // Half of each are repeats of the batch before.
      const items = [...sent.slice(-2), eventItem(), eventItem()];
      sent.push(...items.slice(-2));
      await lab.accept(merchant, items);
    }
  });
  afterEach(async () => {
    road.silent = false;
    await worker.stop();
    await database.close();
    await road.close();
  });

  const every = (): unknown[] => sent.map((item) => item['event_id']).sort();
  const counted = async (): Promise<{ accepted: number; bits: number }> => {
    const [row] = await lab.db.database.query<{ accepted: number; bits: number }>(
      `select count(*) filter (where state = 'accepted')::int as accepted,
         coalesce(sum(bit_count(new_items)), 0)::int as bits
       from tracking.batches where merchant_id = $1`,
      [merchant],
    );
    return row!;
  };
  const ids = async (): Promise<unknown[]> => (await lab.events(merchant)).map((event) => event['event_id']);
  /** Once: a wake that waits would open a connection in the silence, which takes 5 s to give up. */
  const silent = async (): Promise<void> => {
    let polledAt = -Infinity;
    await eventually(() => {
      // Again only where a statement took so long that the turn was given up.
      if (performance.now() - polledAt > GIVES_UP_MS) {
        polledAt = performance.now();
        worker.wake();
      }
      return road.silent;
    });
  };

  const places: readonly (readonly [Message, Side])[] = [
    ['the look for who waits', 'unsent'],
    ['the reading of batches', 'unacknowledged'],
    ['the begin with its locks', 'unacknowledged'],
    ['the insert of ids', 'unacknowledged'],
    ['the insert of events', 'unsent'],
    ['the insert of events', 'unacknowledged'],
    ['the marking of batches', 'unacknowledged'],
    ['the commit', 'unsent'],
    ['the commit', 'unacknowledged'],
  ];

  it.each(places)('goes on after the database went silent at %s (%s)', async (message, side) => {
    road.silentAt = { text: MESSAGES[message], side };
    await silent();
    // A little longer than a statement waits.
    await sleep(1.1 * PATIENCE_MS);
    road.silent = false;
    await lab.settle([worker]);
    expect(await ids()).toEqual(every());
    expect(await counted()).toEqual({ accepted: 0, bits: sent.length });
  });

  it('leaves the batches to another process when it lost sight of the database in the middle', async () => {
    road.silentAt = { text: MESSAGES['the marking of batches'], side: 'unacknowledged' };
    await silent();
    await lab.settle([lab.worker()]);
    expect(await ids()).toEqual(every());
    expect(await counted()).toEqual({ accepted: 0, bits: sent.length });
  });

  it.each(['the reading of batches', 'the insert of events', 'the commit'] as const)(
    'is stopped soon while the database is silent at %s',
    async (message) => {
      road.silentAt = { text: MESSAGES[message], side: 'unacknowledged' };
      await silent();
      const began = performance.now();
      await worker.stop();
      expect(performance.now() - began).toBeLessThan(GIVES_UP_MS);
      await lab.settle([lab.worker()]);
      expect(await ids()).toEqual(every());
    },
  );

  it('is stopped after the transaction under way, and loses nothing', async () => {
    worker.wake();
    await eventually(async () => (await counted()).accepted < BATCHES);
    await worker.stop();
    const { bits } = await counted();
    expect((await ids()).length).toBe(bits);
    worker.wake();
    worker.wake();
    await sleep(50);
    expect((await counted()).bits).toBe(bits);
    await lab.settle([lab.worker()]);
    expect(await ids()).toEqual(every());
    expect(await counted()).toEqual({ accepted: 0, bits: sent.length });
  });
});
