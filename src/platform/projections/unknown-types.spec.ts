import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { eventually } from '../../../test/support/eventually.js';
import {
  NEWER,
  OTHER,
  withSubscriptions,
  type SubscriptionHarness,
  upTo,
  RELEVANT,
} from '../../../test/support/event-store/subscription-harness.js';

describe('a subscription that meets a type of a newer version', () => {
  let harness: SubscriptionHarness;

  withSubscriptions((opened) => (harness = opened), 'delete from event_store.passing_types');
  beforeEach(() => {
    jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
  });

  it('waits at it, reports it, and continues after it once it may pass', async () => {
    await harness.write(3);
    const before = await harness.write(2, OTHER);
    await harness.write(1, NEWER, 3);
    const end = await harness.write(2, RELEVANT, 4);
    const { runner, checkpoints, passing } = harness.process(harness.view());
    runner.start();
    await eventually(() => runner.states()[0]?.haltedAt?.type === NEWER);
    await eventually(async () => (await checkpoints.read([harness.name])).get(harness.name) === before);
    expect(await harness.applied()).toEqual(upTo(3));
    expect(runner.states()[0]).toMatchObject({ position: before });
    expect(Logger.prototype.error).toHaveBeenCalledTimes(1);
    expect(Logger.prototype.error).toHaveBeenCalledWith(
      expect.objectContaining({ subscription: harness.name, type: NEWER }),
    );
    await passing.allow(NEWER, 'not needed here');
    await eventually(async () => (await checkpoints.read([harness.name])).get(harness.name) === end);
    expect(await harness.applied()).toEqual([0, 1, 2, 4, 5]);
    expect(runner.states()[0]).toMatchObject({ haltedAt: null });
  });

  it('continues where a process of the newer version has applied it, and works alongside it', async () => {
    const older = harness.process(harness.view());
    older.runner.start();
    await harness.write(1, NEWER);
    await eventually(() => older.runner.states()[0]?.haltedAt?.type === NEWER);
    const newer = harness.process(harness.view({ events: [RELEVANT, NEWER] }));
    newer.runner.start();
    const position = await harness.write(3, RELEVANT, 1);
    await eventually(() => older.runner.states()[0]?.position === position);
    expect(older.runner.states()[0]).toMatchObject({ haltedAt: null });
    await newer.runner.stop();
    const last = await harness.write(2, RELEVANT, 4);
    expect(await older.progress.waitFor(harness.name, last)).toBe(true);
    expect(await harness.applied()).toEqual(upTo(6));
  });

  it('is not rebuilt past it: rows without it would be wrong for good', async () => {
    const tables = { schema: 'public', names: ['seen'] };
    await harness.write(1, NEWER);
    const { rebuild } = harness.process({ ...harness.view(), tables });
    await expect(rebuild.rebuild(harness.name)).rejects.toThrow(`does not know ${NEWER}`);
  });
});
