import { describe, expect, it } from '@jest/globals';
import {
  OTHER,
  withSubscriptions,
  type SubscriptionHarness,
  upTo,
  RELEVANT,
} from '../../../test/support/event-store/subscription-harness.js';

describe('read models', () => {
  let harness: SubscriptionHarness;

  withSubscriptions((opened) => (harness = opened));

  describe('for a reader who waits for earlier writes', () => {
    it('contain all earlier writes in the process that runs the subscription', async () => {
      const { runner, progress } = harness.process(harness.view());
      runner.start();
      for (let n = 0; n < 20; n += 1) {
        await harness.write(1, RELEVANT, n);
        expect(await progress.waitUntilCurrent(harness.name)).toBe(true);
        expect(await harness.applied()).toEqual(upTo(n + 1));
      }
    });

    it('contain all earlier writes in another process too, without waits for irrelevant events', async () => {
      const worker = harness.process(harness.view());
      worker.runner.start();
      const api = harness.process(harness.view());
      for (let n = 0; n < 20; n += 1) {
        await harness.write(1, RELEVANT, n);
        expect(await api.progress.waitUntilCurrent(harness.name)).toBe(true);
        expect(await harness.applied()).toEqual(upTo(n + 1));
      }
      await worker.runner.stop();
      await harness.write(3, OTHER);
      expect(await api.progress.waitUntilCurrent(harness.name)).toBe(true);
    });

    it('are reported as late after the time limit, and as current if nothing was written', async () => {
      const { progress } = harness.process(harness.view());
      expect(await progress.waitFor(harness.name, await harness.write(1), 200)).toBe(false);
      expect(await progress.waitFor(harness.name, null)).toBe(true);
    });
  });

  describe('whose lag is measured', () => {
    it('report the age of the oldest event that is not applied, even before their runner starts', async () => {
      await harness.write(2);
      const { runner, progress, lagAfter } = harness.process(harness.view());
      const lagOf = async () => (await lagAfter(60_000).all())[0]!.ageMs;
      expect(await lagOf()).toBeGreaterThan(50_000);
      runner.start();
      expect(await progress.waitFor(harness.name, await harness.writer.head())).toBe(true);
      expect(await lagOf()).toBe(0);
    });
  });

  describe('that are rebuilt', () => {
    const tables = { schema: 'public', names: ['seen'] };

    it('contain the events that the runner applied just before the tables are swapped', async () => {
      const { runner, progress, checkpoints: own } = harness.process(harness.view({ tables }));
      await own.set(harness.name, null, harness.database.pool);
      runner.start();
      expect(await progress.waitFor(harness.name, await harness.write(3))).toBe(true);
      const before = await harness.applied();
      const { rebuild, checkpoints } = harness.process(harness.view({ tables }));
      const read = checkpoints.of.bind(checkpoints);
      checkpoints.of = async (name, tx, lock) => {
        if (lock === 'for update')
          expect(await progress.waitFor(name, await harness.write(1, RELEVANT, 50))).toBe(true);
        return read(name, tx, lock);
      };
      await rebuild.rebuild(harness.name);
      expect(await harness.applied()).toEqual([...before, 50]);
      expect(await progress.waitFor(harness.name, await harness.write(1, RELEVANT, 99))).toBe(true);
      expect(await harness.applied()).toEqual([...before, 50, 99]);
    });

    it('contain all events up to the last one, even beyond the position of the runner', async () => {
      await harness.write(3);
      const { rebuild, runner, progress } = harness.process(harness.view({ tables }));
      const { position } = await rebuild.rebuild(harness.name);
      expect(position).toBe(await harness.writer.head());
      const rebuilt = await harness.applied();
      runner.start();
      expect(await progress.waitFor(harness.name, await harness.write(1, RELEVANT, 99))).toBe(true);
      expect(await harness.applied()).toEqual([...rebuilt, 99]);
    });

    it('are refused if the name is unknown or belongs to a saga', async () => {
      const { rebuild } = harness.process(harness.view());
      await expect(rebuild.rebuild(harness.name)).rejects.toThrow('not a read model');
      await expect(rebuild.rebuild('unknown')).rejects.toThrow('no subscription unknown');
    });
  });
});
