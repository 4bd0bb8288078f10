import { beforeEach, describe, expect, it } from '@jest/globals';
import { overridden } from '../../../test/support/event-store/counter.js';
import {
  OTHER,
  withSubscriptions,
  type SubscriptionHarness,
  RELEVANT,
} from '../../../test/support/event-store/subscription-harness.js';
import type { EventStore } from '../event-store/port.js';
import { readWaits } from '../telemetry/metrics.js';
import type { SubscriptionProgress } from './subscription-progress.js';

const BEHIND = 20_000;

describe('reads in a process whose subscriptions run in another process', () => {
  let harness: SubscriptionHarness;
  let pages: number;

  withSubscriptions((opened) => (harness = opened));
  beforeEach(() => {
    pages = 0;
  });

  function progressOf(readYourWritesMs: number, methods: Partial<EventStore> = {}): SubscriptionProgress {
    const readAll: EventStore['readAll'] = (after, limit) => {
      pages += 1;
      return harness.writer.readAll(after, limit);
    };
    const store = overridden(harness.writer, { readAll, ...methods });
    return harness.processOver(store, readYourWritesMs, [harness.view()]).progress;
  }
  const twenty = (progress: SubscriptionProgress) =>
    Promise.all(Array.from({ length: 20 }, () => progress.waitUntilCurrent(harness.name)));

  it('share at most 8 pages of events among 20 parallel reads if the read model is far behind', async () => {
    for (let n = 0; n < BEHIND; n += 2000) await harness.write(2000, OTHER);
    await harness.write(1);
    const progress = progressOf(2000);
    expect(new Set(await twenty(progress))).toEqual(new Set([false]));
    expect(pages).toBeLessThanOrEqual(8);
  });

  it('are refused while an event that was written just before is not applied', async () => {
    await harness.write(1);
    const reading = progressOf(30).requireCurrent(harness.name);
    await expect(reading).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('scan each event once, and wait only for a relevant event', async () => {
    const position = await harness.write(1);
    await harness.write(1200, OTHER);
    const progress = progressOf(1000);
    expect(await progress.waitUntilCurrent(harness.name)).toBe(false);
    const first = pages;
    for (let n = 0; n < 5; n += 1) await harness.write(1, OTHER);
    expect(await progress.waitUntilCurrent(harness.name)).toBe(false);
    expect(pages - first).toBe(1);
    const { checkpoints } = harness.process(harness.view());
    const before = (await checkpoints.read([harness.name])).get(harness.name)!;
    await checkpoints.advance(harness.name, before, position);
    expect(await progress.waitUntilCurrent(harness.name)).toBe(true);
    expect(pages - first).toBe(1);
  });

  it('wait again for a relevant event after a crash of PostgreSQL rewound the checkpoint', async () => {
    const { checkpoints } = harness.process(harness.view());
    const before = (await checkpoints.read([harness.name])).get(harness.name)!;
    const position = await harness.write(1);
    await checkpoints.advance(harness.name, before, position);
    const progress = progressOf(1000);
    await harness.write(1, OTHER);
    expect(await progress.waitUntilCurrent(harness.name)).toBe(true);
    await checkpoints.advance(harness.name, position, before);
    expect(await progress.waitUntilCurrent(harness.name)).toBe(false);
  });

  it.each(['readAll', 'head'])(
    'return within READ_YOUR_WRITES_MS if the event store hangs in %s',
    async (call) => {
      await harness.write(1, RELEVANT);
      const progress = progressOf(100, { [call]: () => new Promise<never>(() => undefined) });
      expect(new Set(await twenty(progress))).toEqual(new Set([false]));
    },
  );

  const counted = async (outcome: string): Promise<number> =>
    (await readWaits.get()).values.find(({ labels }) => labels.outcome === outcome)?.value ?? 0;

  it.each<[string, Partial<EventStore>, 'late' | 'failed']>([
    ['as late if the read model is behind', {}, 'late'],
    ['as failed if the head cannot be read', { head: () => Promise.reject(new Error('gone')) }, 'failed'],
    ['as late if the event store hangs', { head: () => new Promise<never>(() => undefined) }, 'late'],
  ])('are counted once in the metrics %s', async (_, methods, outcome) => {
    await harness.write(1);
    const before = await Promise.all(['late', 'failed', 'current'].map(counted));
    await progressOf(30, methods)
      .waitUntilCurrent(harness.name)
      .catch(() => undefined);
    const after = await Promise.all(['late', 'failed', 'current'].map(counted));
    const expected = outcome === 'late' ? [1, 0, 0] : [0, 1, 0];
    expect(after.map((count, n) => count - before[n]!)).toEqual(expected);
  });
});
