import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { newId } from '../../kernel/ids.js';
import { eventually } from '../../../test/support/eventually.js';
import {
  NEWER,
  OTHER,
  withSubscriptions,
  type SubscriptionHarness,
  upTo,
  RELEVANT,
} from '../../../test/support/event-store/subscription-harness.js';

const INSERT = `insert into event_store.events
  values (nextval('event_store.position'), 'thing-x', 0, gen_random_uuid(), '${RELEVANT}', '{"n":7}', '{}', now())
  returning position`;
const TABLES = { schema: 'public', names: ['seen'] };

describe('a subscription', () => {
  let harness: SubscriptionHarness;

  withSubscriptions(
    (opened) => (harness = opened),
    'delete from event_store.events; delete from event_store.passing_types',
  );
  beforeEach(() => {
    jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
  });

  const sql = async (text: string, values: unknown[] = []): Promise<string[]> =>
    (await harness.database.pool.query<{ position: string }>(text, values)).rows.map(
      ({ position }) => position,
    );
  const applied = (...expected: readonly number[]): Promise<true> =>
    eventually(async () => (await harness.applied()).join() === expected.join());

  describe('that meets an event which somebody wrote by SQL', () => {
    /** The position of an event between two genuine ones, after its data was changed. */
    const changed = async (): Promise<string> => {
      const stream = `thing-${newId()}`;
      const events = upTo(3).map((n) => {
        return { id: newId(), type: RELEVANT, data: { n }, metadata: { actor: 'spec' } };
      });
      await harness.writer.commit({ appends: [{ stream, events, expected: 'no_stream' }] });
      const update = `update event_store.events set data = '{"n":5}' where stream = $1 and revision = 1 returning position`;
      return (await sql(update, [stream]))[0]!;
    };

    it.each<[string, () => Promise<string>, number[], number[]]>([
      ['has no MAC', async () => (await sql(INSERT))[0]!, [0, 1], [0, 1, 9]],
      ['has changed data', changed, [0, 1, 0], [0, 1, 0, 2, 9]],
    ])('halts if the event %s, and continues after its deletion', async (_, tamper, before, after) => {
      await harness.write(2);
      const position = await tamper();
      const last = await harness.write(1, RELEVANT, 9);
      const { runner } = harness.process(harness.view());
      runner.start();
      await eventually(() => runner.states()[0]?.haltedAt?.position === position);
      expect(runner.states()[0]?.haltedAt?.isForged).toBe(true);
      expect(Logger.prototype.error).toHaveBeenCalledWith(
        expect.objectContaining({
          subscription: harness.name,
          position,
          msg: expect.stringContaining('forged'),
        }),
      );
      expect(await harness.applied()).toEqual(before);
      await sql('delete from event_store.events where position = $1', [position]);
      await eventually(() => runner.states()[0]?.position === last);
      expect(runner.states()[0]?.haltedAt).toBeNull();
      expect(await harness.applied()).toEqual(after);
    });

    it('halts if the event arrives while the subscription follows the log', async () => {
      const { runner } = harness.process(harness.view());
      runner.start();
      await harness.write(2);
      await applied(0, 1);
      const [position] = await sql(INSERT);
      await eventually(() => runner.states()[0]?.haltedAt?.position === position);
      await harness.write(1, RELEVANT, 2);
      await sql('delete from event_store.events where position = $1', [position]);
      await applied(0, 1, 2);
    });

    it('cannot be rebuilt from the forged event', async () => {
      const position = await changed();
      const { rebuild } = harness.process(harness.view({ tables: TABLES }));
      await expect(rebuild.rebuild(harness.name)).rejects.toThrow(`position ${position}`);
    });
  });

  describe('that meets an event type of a newer version', () => {
    it('halts at the event, reports it, and continues once an operator lets the type pass', async () => {
      await harness.write(3);
      const before = await harness.write(2, OTHER);
      await harness.write(1, NEWER, 3);
      const end = await harness.write(2, RELEVANT, 4);
      const { runner, checkpoints, passing } = harness.process(harness.view());
      const checkpoint = async () => (await checkpoints.read([harness.name])).get(harness.name);
      runner.start();
      await eventually(() => runner.states()[0]?.haltedAt?.type === NEWER);
      await eventually(async () => (await checkpoint()) === before);
      expect(await harness.applied()).toEqual(upTo(3));
      expect(runner.states()[0]).toMatchObject({ position: before });
      expect(Logger.prototype.error).toHaveBeenCalledTimes(1);
      expect(Logger.prototype.error).toHaveBeenCalledWith(
        expect.objectContaining({ subscription: harness.name, type: NEWER }),
      );
      await passing.allow(NEWER, 'not needed here');
      await eventually(async () => (await checkpoint()) === end);
      expect(await harness.applied()).toEqual([0, 1, 2, 4, 5]);
      expect(runner.states()[0]).toMatchObject({ haltedAt: null });
    });

    it('continues after a newer process has applied the unknown event, even if that process stops', async () => {
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

    it('cannot be rebuilt past the event, because rows without it would be wrong', async () => {
      await harness.write(1, NEWER);
      const { rebuild } = harness.process(harness.view({ tables: TABLES }));
      await expect(rebuild.rebuild(harness.name)).rejects.toThrow(`does not know ${NEWER}`);
    });
  });
});
