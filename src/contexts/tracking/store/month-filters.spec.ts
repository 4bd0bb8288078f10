import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { eventItem, type SentItem } from '../../../../test/support/event-batches.js';
import { PATIENCE_MS } from '../../../../test/support/eventually.js';
import { ProcessingLab, type TestWorker } from '../../../../test/support/tracking/processing-lab.js';
import { standingAt } from '../../../../test/support/tracking/standing-at.js';
import { MONTHS } from './periods.js';

describe('sealed months', () => {
  const last = MONTHS.at(new Date(), -3);
  const name = `events_${last.name}`;
  const inMonth = { receivedAt: new Date(last.to.getTime() - 1) };
  let lab: ProcessingLab;
  let worker: TestWorker;
  let merchant: string;

  beforeAll(() => Logger.overrideLogger(false));
  afterAll(() => Logger.overrideLogger(['log', 'warn', 'error']));
  beforeEach(async () => {
    lab = await ProcessingLab.open();
    worker = lab.worker();
    merchant = randomUUID();
    await lab.partitions.ensure([inMonth.receivedAt]);
  });
  const items = (count: number): SentItem[] => Array.from({ length: count }, () => eventItem());
  const sealed = async (): Promise<Record<string, string | null>> => {
    const rows = await lab.db.database.query<{ partition: string; events: string | null }>(
      'select partition, events from tracking.sealed_months',
    );
    return Object.fromEntries(rows.map(({ partition, events }) => [partition, events]));
  };
  const wait = async (batch: string): Promise<number[]> => {
    await lab.settle();
    return lab.newItems(batch);
  };

  it('are those that are over and have no batch that waits', async () => {
    const batch = await lab.accept(merchant, items(3), inMonth);
    await worker.filters.turn();
    expect(await sealed()).not.toHaveProperty(name);
    await wait(batch);
    await worker.filters.turn();
    expect(await sealed()).toMatchObject({ [name]: '3' });
    expect(await sealed()).not.toHaveProperty(`events_${MONTHS.at(new Date(), 0).name}`);
    await lab.close();
  });

  it('hold processing up for a moment only when the process that seals one stands still', async () => {
    let wake = (): void => undefined;
    const awake = new Promise<void>((resolve) => (wake = resolve));
    let locked = (): void => undefined;
    const lockHad = new Promise<void>((resolve) => (locked = resolve));
    const standing = standingAt('insert into tracking.sealed_months', lab.db.database, async () => {
      locked();
      await awake;
    });
    const sealing = lab.worker(standing).filters.turn();
    sealing.catch(() => undefined);
    await lockHad;
    const batch = await lab.accept(merchant, items(1));
    const processed = wait(batch);
    processed.catch(() => undefined);
    expect(await Promise.race([processed, sleep(PATIENCE_MS, 'held up', { ref: false })])).toEqual([0]);
    wake();
    await expect(sealing).rejects.toThrow();
    await lab.close();
  });

  it('are known by each process, with a filter and without', async () => {
    // More than one read of the connection brings.
    const count = 4000;
    const sent = items(count);
    await wait(await lab.accept(merchant, sent, inMonth));
    await Promise.all([worker.filters.turn(), lab.worker().filters.turn()]);
    expect(await sealed()).toMatchObject({ [name]: String(count) });
    await worker.filters.turn();
    expect(worker.filters.of(name)).toBeDefined();
    const repeated = [...sent, ...items(1)];
    expect(await wait(await lab.accept(merchant, repeated))).toEqual([count]);
    await worker.stop();
    const other = lab.worker();
    expect(other.filters.of(name)).toBeUndefined();
    const batch = await lab.accept(merchant, [...sent, ...items(1)]);
    await lab.settle([other]);
    expect(await lab.newItems(batch)).toEqual([count]);
    expect(await wait(await lab.accept(randomUUID(), sent.slice(0, 2)))).toEqual([0, 1]);
    await lab.close();
  });

  it('get no more events: a batch that comes late counts as of the month after', async () => {
    await worker.filters.turn();
    expect(await sealed()).toMatchObject({ [name]: '0' });
    const sent = items(2);
    expect(await wait(await lab.accept(merchant, sent, inMonth))).toEqual([0, 1]);
    const received = (await lab.events(merchant)).map((event) => event['received_at']);
    const [row] = await lab.db.database.query<{ open: Date }>(
      'select max(ends_at) as open from tracking.sealed_months',
    );
    expect(received).toEqual([row!.open, row!.open]);
    expect(await wait(await lab.accept(merchant, sent))).toEqual([]);
    await lab.close();
  });

  it('are not sealed under a process that is about to add to them', async () => {
    const holder = await lab.db.pool.connect();
    await holder.query('begin; select pg_advisory_xact_lock_shared(7331071)');
    const turn = worker.filters.turn();
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(await sealed()).toEqual({});
    await holder.query('commit');
    holder.release();
    await turn;
    expect(await sealed()).toMatchObject({ [name]: '0' });
    await lab.close();
  });

  it('are forgotten when their partition is dropped', async () => {
    const old = MONTHS.at(new Date(), -30).from;
    const sent = items(2);
    await wait(await lab.accept(merchant, sent, { receivedAt: old }));
    await worker.filters.turn();
    await lab.partitions.drop();
    await worker.filters.turn();
    expect(await sealed()).not.toHaveProperty(`events_${MONTHS.at(old, 0).name}`);
    expect(worker.filters.of(`events_${MONTHS.at(old, 0).name}`)).toBeUndefined();
    expect(await wait(await lab.accept(merchant, sent))).toEqual([0, 1]);
    await lab.close();
  });
});
