import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { eventually } from '../../../test/support/eventually.js';
import { NEWER, OTHER, SubscriptionLab, upTo, RELEVANT } from '../../../test/support/subscription-lab.js';

describe('a subscription that meets a type of a newer version', () => {
  let lab: SubscriptionLab;

  beforeAll(async () => {
    lab = await SubscriptionLab.open();
  });

  beforeEach(async () => {
    await lab.begin();
    jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
  });

  afterEach(async () => {
    await lab.end();
    await lab.database.pool.query('delete from event_store.passing_types');
    jest.restoreAllMocks();
  });

  afterAll(async () => {
    await lab.database.drop();
  });

  const newerView = () => lab.view({ events: [RELEVANT, NEWER] });

  it('waits at it, reports it, and continues after it once it may pass', async () => {
    await lab.write(3);
    const before = await lab.write(2, OTHER);
    await lab.write(1, NEWER, 3);
    const end = await lab.write(2, RELEVANT, 4);
    const { runner, checkpoints, passing } = lab.process(lab.view());
    runner.start();
    await eventually(() => runner.states()[0]?.haltedAt?.type === NEWER);
    await eventually(async () => (await checkpoints.read([lab.name])).get(lab.name) === before);
    expect(await lab.applied()).toEqual(upTo(3));
    expect(runner.states()[0]).toMatchObject({ position: before, oldestPending: expect.any(Date) });
    expect(Logger.prototype.error).toHaveBeenCalledTimes(1);
    expect(Logger.prototype.error).toHaveBeenCalledWith(
      expect.objectContaining({ subscription: lab.name, type: NEWER }),
    );
    await passing.allow(NEWER, 'not needed here');
    await eventually(async () => (await checkpoints.read([lab.name])).get(lab.name) === end);
    expect(await lab.applied()).toEqual([0, 1, 2, 4, 5]);
    expect(runner.states()[0]).toMatchObject({ haltedAt: null });
  });

  it('continues where a process of the newer version has applied it, and works alongside it', async () => {
    const older = lab.process(lab.view());
    older.runner.start();
    await lab.write(1, NEWER);
    await eventually(() => older.runner.states()[0]?.haltedAt?.type === NEWER);
    const newer = lab.process(newerView());
    newer.runner.start();
    const position = await lab.write(3, RELEVANT, 1);
    await eventually(() => older.runner.states()[0]?.position === position);
    expect(older.runner.states()[0]).toMatchObject({ haltedAt: null });
    await newer.runner.stop();
    const last = await lab.write(2, RELEVANT, 4);
    expect(await older.progress.reached(lab.name, last)).toBe(true);
    expect(await lab.applied()).toEqual(upTo(6));
  });

  it('is upgraded: the newer version applies what the older one waited at', async () => {
    await lab.write(2);
    await lab.write(1, NEWER, 2);
    await lab.write(2, RELEVANT, 3);
    const older = lab.process(lab.view());
    older.runner.start();
    await eventually(() => older.runner.states()[0]?.haltedAt?.type === NEWER);
    await older.runner.stop();
    const newer = lab.process(newerView());
    newer.runner.start();
    await eventually(async () => (await lab.applied()).length === 5);
    expect(await lab.applied()).toEqual(upTo(5));
  });

  it('is not rebuilt past it: rows without it would be wrong for good', async () => {
    const tables = { schema: 'public', names: ['seen'] };
    await lab.write(1, NEWER);
    const { rebuild } = lab.process({ ...lab.view(), tables });
    await expect(rebuild.rebuild(lab.name)).rejects.toThrow(`does not know ${NEWER}`);
  });
});
