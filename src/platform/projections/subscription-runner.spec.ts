import { describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { eventually } from '../../../test/support/eventually.js';
import {
  OTHER,
  withSubscriptions,
  type SubscriptionHarness,
  upTo,
  RELEVANT,
} from '../../../test/support/event-store/subscription-harness.js';

describe('the subscription runner', () => {
  let harness: SubscriptionHarness;

  withSubscriptions((opened) => (harness = opened));

  it('applies 50 events from before and after its start, each once and in order', async () => {
    await harness.write(30);
    const woken: number[] = [];
    const { runner, progress } = harness.process(
      harness.view({ afterCommit: (events) => void woken.push(events.length) }),
    );
    runner.start();
    await harness.write(5, OTHER);
    const position = await harness.write(20, RELEVANT, 30);
    expect(await progress.waitFor(harness.name, position)).toBe(true);
    expect(await harness.applied()).toEqual(upTo(50));
    expect(woken.reduce((sum, n) => sum + n, 0)).toBe(50);
  });

  /** Simulates a crash that loses the last commits of the runner, which do not wait for the disk. */
  const loseAllButTheFirst = async (checkpoint: string | null): Promise<void> => {
    await harness.database.database.transaction(async (tx) => {
      await tx.query('delete from seen where name = $1 and n > 0', [harness.name]);
      await tx.query('update event_store.checkpoints set position = $2 where name = $1', [
        harness.name,
        checkpoint,
      ]);
    });
  };

  it.each([0, 2])(
    'applies events again after a crash of PostgreSQL lost their rows, with %i later events',
    async (later) => {
      jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
      const { runner, progress } = harness.process(harness.view());
      runner.start();
      const first = await harness.write(1);
      expect(await progress.waitFor(harness.name, first)).toBe(true);
      expect(await progress.waitFor(harness.name, await harness.write(3, RELEVANT, 1))).toBe(true);
      await loseAllButTheFirst(first);
      if (later > 0) await harness.write(later, RELEVANT, 4);
      await eventually(async () => (await harness.applied()).length === 4 + later);
      expect(await harness.applied()).toEqual(upTo(4 + later));
    },
  );

  it('continues from the checkpoint in the next process', async () => {
    const first = harness.process(harness.view());
    first.runner.start();
    expect(await first.progress.waitFor(harness.name, await harness.write(3))).toBe(true);
    await first.runner.stop();
    const position = await harness.write(3, RELEVANT, 3);
    const second = harness.process(harness.view());
    second.runner.start();
    expect(await second.progress.waitFor(harness.name, position)).toBe(true);
    expect(await harness.applied()).toEqual(upTo(6));
  });

  it('applies a batch once if its session is killed between the rows and the checkpoint', async () => {
    jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
    let kills = 0;
    const dying = harness.view({
      apply: async (events, tx) => {
        await harness.insert(events, tx);
        kills += 1;
        if (kills > 2) return;
        const { rows } = await tx.query<{ pid: number }>('select pg_backend_pid() as pid');
        await harness.database.pool.query('select pg_terminate_backend($1)', [rows[0]!.pid]);
      },
    });
    const { runner, progress } = harness.process(dying);
    const position = await harness.write(10);
    runner.start();
    expect(await progress.waitFor(harness.name, position)).toBe(true);
    expect(kills).toBe(3);
    expect(await harness.applied()).toEqual(upTo(10));
  });

  it('applies each event once and in order while three processes run the same subscription', async () => {
    const processes = [
      harness.process(harness.view()),
      harness.process(harness.view()),
      harness.process(harness.view()),
    ];
    for (const { runner } of processes) runner.start();
    let position = '';
    for (let n = 0; n < 150; n += 1) {
      position = await harness.write(1, RELEVANT, n);
      if (n % 3 === 0) await harness.write(1, OTHER);
    }
    for (const { progress } of processes) expect(await progress.waitFor(harness.name, position)).toBe(true);
    expect(await harness.applied()).toEqual(upTo(150));
  });

  it('stops at an event that cannot be applied and logs it, while other subscriptions continue', async () => {
    jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
    const errors = jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
    let broken = true;
    const picky = harness.view({
      apply: async (events, tx) => {
        if (broken && events.some(({ data }) => data['n'] === 37)) throw new Error('37 again');
        await harness.insert(events, tx);
      },
    });
    const healthy = { ...harness.view(), name: `${harness.name}.healthy`, apply: async () => undefined };
    const { runner, progress } = harness.process(picky, healthy);
    const position = await harness.write(60);
    runner.start();
    expect(await progress.waitFor(healthy.name, position)).toBe(true);
    while (errors.mock.calls.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    expect(await harness.applied()).toEqual(upTo(37));
    expect(errors.mock.calls[0]![0]).toMatchObject({ subscription: harness.name, type: RELEVANT });
    broken = false;
    expect(await progress.waitFor(harness.name, position)).toBe(true);
    expect(await harness.applied()).toEqual(upTo(60));
  });

  it('splits a batch that times out, and applies larger batches again only after its last event', async () => {
    jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
    const sizes: number[] = [];
    const slow = harness.view({
      apply: async (events, tx) => {
        sizes.push(events.length);
        if (events.length > 20) throw Object.assign(new Error('transaction timeout'), { code: '25P04' });
        await harness.insert(events, tx);
      },
    });
    const { runner, progress } = harness.process(slow);
    const position = await harness.write(60);
    runner.start();
    expect(await progress.waitFor(harness.name, position)).toBe(true);
    expect(sizes).toEqual([60, 60, 60, 30, 15, 15, 15, 15]);
    expect(await progress.waitFor(harness.name, await harness.write(20, RELEVANT, 60))).toBe(true);
    expect(sizes.at(-1)).toBe(20);
  });

  it('moves the stored checkpoint past irrelevant events, which it does not apply', async () => {
    const { runner, checkpoints } = harness.process(harness.view());
    runner.start();
    const position = await harness.write(3, OTHER);
    const stored = async () => (await checkpoints.read([harness.name])).get(harness.name);
    while ((await stored()) !== position) await new Promise((resolve) => setTimeout(resolve, 20));
    expect(await harness.applied()).toEqual([]);
  });

  it('completes the pending batch when it stops', async () => {
    let begun = (): void => undefined;
    const started = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const slow = harness.view({
      apply: async (events, tx) => {
        begun();
        await tx.query('select pg_sleep(0.2)');
        await harness.insert(events, tx);
      },
    });
    const { runner } = harness.process(slow);
    runner.start();
    await harness.write(4);
    await started;
    await runner.stop();
    expect(await harness.applied()).toHaveLength(4);
  });
});
