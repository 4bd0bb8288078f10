import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { OTHER, SubscriptionLab, upTo, RELEVANT } from '../../../test/support/subscription-lab.js';

describe('read models, seen from outside', () => {
  let lab: SubscriptionLab;

  beforeAll(async () => {
    lab = await SubscriptionLab.open();
  });

  beforeEach(async () => {
    await lab.begin();
  });

  afterEach(async () => {
    await lab.end();
  });

  afterAll(async () => {
    await lab.database.drop();
  });

  describe('read your own writes', () => {
    it('waits for the runner of another process', async () => {
      const worker = lab.process(lab.view());
      worker.runner.start();
      const api = lab.process();
      expect(await api.progress.reached(lab.name, await lab.write(1))).toBe(true);
      expect(await lab.applied()).toEqual([0]);
    });

    it('shows a reader all that was written before it came, in the process that runs the subscription', async () => {
      const { runner, progress } = lab.process(lab.view());
      runner.start();
      for (let n = 0; n < 20; n += 1) {
        await lab.write(1, RELEVANT, n);
        expect(await progress.current(lab.name)).toBe(true);
        expect(await lab.applied()).toEqual(upTo(n + 1));
      }
    });

    it('shows it in another process too, without waiting for irrelevant events', async () => {
      const worker = lab.process(lab.view());
      worker.runner.start();
      const api = lab.process(lab.view());
      for (let n = 0; n < 20; n += 1) {
        await lab.write(1, RELEVANT, n);
        expect(await api.progress.current(lab.name)).toBe(true);
        expect(await lab.applied()).toEqual(upTo(n + 1));
      }
      await worker.runner.stop();
      await lab.write(3, OTHER);
      expect(await api.progress.current(lab.name)).toBe(true);
    });

    it('gives up after its bound, and has nothing to wait for when nothing was written', async () => {
      const { progress } = lab.process(lab.view());
      expect(await progress.reached(lab.name, await lab.write(1), 200)).toBe(false);
      expect(await progress.reached(lab.name, null)).toBe(true);
    });
  });

  describe('lag', () => {
    it('is the age of the oldest event behind which the checkpoint stays, in any process', async () => {
      await lab.write(2);
      const { runner, progress, lagAfter } = lab.process(lab.view());
      expect(await lagAfter(60_000).of(lab.name)).toBeGreaterThan(50_000);
      runner.start();
      expect(await progress.reached(lab.name, await lab.writer.head())).toBe(true);
      expect(await lagAfter(60_000).of(lab.name)).toBe(0);
    });
  });

  describe('rebuild', () => {
    const tables = { schema: 'public', names: ['seen'] };

    it('replays everything while readers see the old rows, and the runner continues', async () => {
      const { rebuild, runner, progress, checkpoints } = lab.process(lab.view({ tables }));
      await checkpoints.set(lab.name, null, lab.database.pool);
      runner.start();
      expect(await progress.reached(lab.name, await lab.write(2))).toBe(true);
      const before = await lab.applied();
      const seenMeanwhile: number[][] = [];
      const watching = lab.view({
        tables,
        apply: async (events, tx, schema) => {
          seenMeanwhile.push(await lab.applied());
          await lab.insert(events, tx, schema);
        },
      });
      const operator = lab.process(watching);
      const rebuilt = await operator.rebuild.rebuild(lab.name);
      expect(rebuilt.events).toBe(before.length);
      expect(await lab.applied()).toEqual(before);
      expect(seenMeanwhile).not.toHaveLength(0);
      for (const rows of seenMeanwhile) expect(rows).toEqual(before);
      expect(await progress.reached(lab.name, await lab.write(1, RELEVANT, 99))).toBe(true);
      expect((await lab.applied()).at(-1)).toBe(99);
      expect(rebuild.names()).toEqual([lab.name]);
    });

    it('has the events that the runner applied just before the tables are swapped', async () => {
      const { runner, progress, checkpoints: own } = lab.process(lab.view({ tables }));
      await own.set(lab.name, null, lab.database.pool);
      runner.start();
      expect(await progress.reached(lab.name, await lab.write(3))).toBe(true);
      const before = await lab.applied();
      const { rebuild, checkpoints } = lab.process(lab.view({ tables }));
      const hold = checkpoints.hold.bind(checkpoints);
      checkpoints.hold = async (name, tx) => {
        expect(await progress.reached(name, await lab.write(1, RELEVANT, 50))).toBe(true);
        return hold(name, tx);
      };
      await rebuild.rebuild(lab.name);
      expect(await lab.applied()).toEqual([...before, 50]);
      expect(await progress.reached(lab.name, await lab.write(1, RELEVANT, 99))).toBe(true);
      expect(await lab.applied()).toEqual([...before, 50, 99]);
    });

    it('goes as far as there are events, also where the runner has not come yet', async () => {
      await lab.write(3);
      const { rebuild, runner, progress } = lab.process(lab.view({ tables }));
      const { position } = await rebuild.rebuild(lab.name);
      expect(position).toBe(await lab.writer.head());
      const rebuilt = await lab.applied();
      runner.start();
      expect(await progress.reached(lab.name, await lab.write(1, RELEVANT, 99))).toBe(true);
      expect(await lab.applied()).toEqual([...rebuilt, 99]);
    });

    it('uses the fast way of a definition that has one', async () => {
      let total = 0;
      const counting = lab.view({
        tables,
        fill: async (history) => {
          for await (const events of history) total += events.length;
        },
      });
      const { rebuild } = lab.process(counting);
      await lab.write(120);
      const rebuilt = await rebuild.rebuild(lab.name, { compare: false });
      expect(rebuilt).toMatchObject({ events: total, position: await lab.writer.head() });
      expect(total).toBeGreaterThan(100);
    });

    it('refuses sagas and unknown names', async () => {
      const { rebuild } = lab.process(lab.view());
      await expect(rebuild.rebuild(lab.name)).rejects.toThrow('no read model');
      await expect(rebuild.rebuild('unknown')).rejects.toThrow('no subscription unknown');
    });
  });
});
