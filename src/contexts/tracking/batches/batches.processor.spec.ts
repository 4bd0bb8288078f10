import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { readConfig } from '../../../composition.js';
import { systemClock } from '../../../kernel/clock.js';
import { batchOf, eventItem, type SentItem } from '../../../../test/support/tracking/event-batches.js';
import { eventually } from '../../../../test/support/eventually.js';
import { ProcessingHarness } from '../../../../test/support/tracking/processing-harness.js';
import { EventRetention } from '../journey/event-retention.store.js';

describe('accepted batches', () => {
  let harness: ProcessingHarness;
  let merchant: string;

  beforeAll(async () => {
    Logger.overrideLogger(false);
    harness = await ProcessingHarness.open();
    harness.worker();
  });
  afterAll(async () => {
    await harness.close();
    Logger.overrideLogger(['log', 'warn', 'error']);
  });
  beforeEach(() => {
    merchant = randomUUID();
  });

  const ids = async (): Promise<unknown[]> =>
    (await harness.events(merchant)).map((event) => event['event_id']);
  const monthsAgo = (count: number): Date => new Date(Date.now() - count * 30.5 * 86_400_000);
  const prune = (): Promise<void> =>
    new EventRetention(harness.db.database, systemClock, readConfig({})).prune();
  const items = (count: number): SentItem[] => Array.from({ length: count }, () => eventItem());
  const settled = async (sent: readonly SentItem[]): Promise<string> => {
    const batch = await harness.accept(merchant, sent);
    await harness.settle();
    return batch;
  };
  const idsOf = (sent: readonly SentItem[]): unknown[] => sent.map((item) => item['event_id']).sort();

  it('become normalised events with unchanged payloads', async () => {
    const [id, other] = [randomUUID(), randomUUID()];
    const payload = '{ "n": 12345678901234567890, "n":1.0,\t"\\u0041":"\\ud83d\\ude00 \\"}{" , "x":[{}] }';
    const text = `\ufeff {"events" : [ {"payload":"not this","event_id":"${id.toUpperCase()}", "event\\u005fname":"  Ångström 😀 ",
      "event_datetime":"2026-02-28T23:59:59.123456789+01:30","user_external_id":" Kunde-\\u00e4 ","device_id":" d ","payload": ${payload},
      "extra":{"events":[]}}, {"event_id":"${other}","event_name":"x","payload":{},"event_datetime":"0001-01-01T00:00",
      "user_external_id":"y","device_id":null} ] , "more":"]}" }`;
    const batch = await harness.accept(merchant, text, { itemCount: 2 });
    await harness.settle();
    const events = await harness.events(merchant);
    expect(events.find((event) => event['event_id'] === id)).toMatchObject({
      user_external_id: 'Kunde-ä',
      event_name: 'ångström 😀',
      exactly: '2026-02-28 22:29:59.123456+00',
      device_id: ' d ',
      payload,
    });
    expect(events.find((event) => event['event_id'] === other)).toMatchObject({
      exactly: '0001-01-01 00:00:00+00',
      device_id: null,
      payload: '{}',
    });
    expect(await harness.batch(batch)).toMatchObject({ state: 'processed', error: null });
    expect(await harness.newItems(batch)).toEqual([0, 1]);
  });

  it('create one event for an id that a batch repeats in any letter case, from its first item', async () => {
    const [first, second] = items(2) as [SentItem, SentItem];
    const again = { ...first, event_id: String(first['event_id']).toUpperCase(), event_name: 'later' };
    const batch = await harness.accept(merchant, [first, second, again, second]);
    await harness.settle();
    expect(await ids()).toEqual(idsOf([first, second]));
    expect((await harness.events(merchant)).some((event) => event['event_name'] === 'later')).toBe(false);
    expect(await harness.newItems(batch)).toEqual([0, 1]);
  });

  it('create one event for an id in several batches, whether processed together or one by one', async () => {
    const [a, b, c, d] = items(4) as [SentItem, SentItem, SentItem, SentItem];
    const one = await harness.accept(merchant, [a, b]);
    const two = await harness.accept(merchant, [b, c]);
    await harness.settle();
    const three = await harness.accept(merchant, [d, c, a]);
    const four = await harness.accept(merchant, [a, b]);
    await harness.settle();
    expect(await ids()).toEqual(idsOf([a, b, c, d]));
    const counted = await Promise.all([one, two, three, four].map((batch) => harness.newItems(batch)));
    expect(counted).toEqual([[0, 1], [1], [0], []]);
    expect(await harness.batch(four)).toMatchObject({ state: 'processed' });
  });

  it('count an id once over months, whichever batch is processed first', async () => {
    const sent = items(4);
    for (const [index, ago] of [1, 2, 11].entries())
      await harness.accept(merchant, [sent[index]!], { receivedAt: monthsAgo(ago) });
    await harness.settle();
    expect(await harness.newItems(await settled(sent))).toEqual([3]);
    const late = await harness.accept(merchant, sent, { receivedAt: monthsAgo(5) });
    await harness.settle();
    expect(await harness.newItems(late)).toEqual([]);
    expect(await ids()).toEqual(idsOf(sent));
  });

  it('create no event for an id that another process inserts without the lock of the merchant', async () => {
    const [known, fresh] = items(2) as [SentItem, SentItem];
    const other = await harness.db.pool.connect();
    await other.query('begin');
    await other.query(`insert into tracking.events values ($1, $2, now(), 'u', 'e', now(), null, '{}')`, [
      merchant,
      known['event_id'],
    ]);
    const batch = await harness.accept(merchant, [known, fresh]);
    harness.worker().wake();
    await eventually(async () => (await harness.waitingForRows()) > 0);
    await other.query('commit');
    other.release();
    await harness.settle();
    expect(await harness.newItems(batch)).toEqual([1]);
    expect(await ids()).toEqual(idsOf([known, fresh]));
  });

  it('create a second event for an id only if the first expired (TRACKING_RETENTION_MONTHS)', async () => {
    const sent = items(2);
    await harness.accept(merchant, [sent[0]!], { receivedAt: monthsAgo(26) });
    await harness.accept(merchant, [sent[1]!], { receivedAt: monthsAgo(24) });
    await harness.settle();
    expect(await harness.newItems(await settled(sent))).toEqual([]);
    await prune();
    expect(await harness.newItems(await settled(sent))).toEqual([0]);
    expect(await ids()).toEqual(idsOf(sent));
  });

  it('are processed once by workers that run at the same time', async () => {
    const workers = [harness.worker(), harness.worker(), harness.worker()];
    const merchants = [merchant, randomUUID(), randomUUID()];
    const pool = Array.from({ length: 200 }, () => randomUUID());
    const sent = new Map<string, string[]>();
    for (let index = 0; index < 90; index += 1) {
      const of = merchants[index % 3]!;
      const chosen = Array.from({ length: 20 }, () => pool[Math.floor(Math.random() * pool.length)]!);
      sent.set(of, [...(sent.get(of) ?? []), ...chosen]);
      await harness.accept(
        of,
        chosen.map((event_id) => eventItem({ event_id })),
      );
      for (const worker of workers) worker.wake();
    }
    await harness.settle();
    for (const of of merchants) {
      const expected = [...new Set(sent.get(of))].sort();
      expect((await harness.events(of)).map((event) => event['event_id'])).toEqual(expected);
      const { rows } = await harness.db.pool.query<{ bits: number }>(
        `select sum(bit_count(new_items))::int as bits from tracking.batches where merchant_id = $1`,
        [of],
      );
      expect(rows[0]!.bits).toBe(expected.length);
    }
  });

  it('fail if they are unreadable or violate a constraint, and do not delay other batches', async () => {
    const good = [items(2), items(2), items(2)];
    const before = await harness.accept(merchant, good[0]!);
    const poison = [
      await harness.accept(merchant, '{"events":[{]}'),
      await harness.accept(merchant, batchOf(items(1)), { itemCount: 2 }),
      await harness.accept(merchant, batchOf([eventItem({ event_datetime: 'soon' })])),
      await harness.accept(merchant, batchOf([eventItem({ user_external_id: 'a\u0000b' })])),
    ];
    const between = await harness.accept(merchant, good[1]!);
    poison.push(await harness.accept(merchant, batchOf([eventItem({ user_external_id: '\u0000' })])));
    const after = await harness.accept(merchant, good[2]!);
    await harness.settle();
    for (const batch of [before, between, after])
      expect(await harness.batch(batch)).toMatchObject({ state: 'processed' });
    for (const batch of poison)
      expect(await harness.batch(batch)).toMatchObject({
        state: 'failed',
        error: expect.stringMatching(/./),
      });
    expect(await ids()).toEqual(idsOf(good.flat()));
  });

  it('of a merchant with a backlog do not delay a batch of another merchant', async () => {
    const other = randomUUID();
    for (let index = 0; index < 60; index += 1) await harness.accept(merchant, items(1));
    const few = await harness.accept(other, items(1));
    await harness.settle();
    const { rows } = await harness.db.pool.query<{ earlier: number }>(
      `select count(*)::int as earlier from tracking.batches
       where merchant_id = $1 and processed_at < (select processed_at from tracking.batches where batch_id = $2)`,
      [merchant, few],
    );
    expect(rows[0]!.earlier).toBeLessThanOrEqual(16);
  });

  it('are retried after a failure of the database', async () => {
    await harness.db.pool.query(
      `create function tracking.refuse() returns trigger language plpgsql as $$
       begin raise exception 'out of disk' using errcode = '53100'; end $$;
       create trigger refuse before insert on tracking.events for each row
         when (new.merchant_id = '${merchant}') execute function tracking.refuse()`,
    );
    const [held, free] = [
      await harness.accept(merchant, items(1)),
      await harness.accept(randomUUID(), items(1)),
    ];
    const [worker] = [harness.worker()];
    await eventually(async () => {
      worker.wake();
      return (await harness.batch(free)).state === 'processed';
    });
    expect((await harness.batch(held)).state).toBe('accepted');
    // The worker tries again meanwhile: PostgreSQL may end either of the two as a deadlock.
    await eventually(() =>
      harness.db.pool.query('drop trigger if exists refuse on tracking.events').then(
        () => true,
        () => false,
      ),
    );
    await harness.settle();
    expect((await harness.batch(held)).state).toBe('processed');
  });
});
