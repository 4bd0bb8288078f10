import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { newId } from '../../kernel/ids.js';
import { eventually } from '../../../test/support/eventually.js';
import {
  withSubscriptions,
  type SubscriptionHarness,
  upTo,
  RELEVANT,
} from '../../../test/support/event-store/subscription-harness.js';

/** Of the events of one stream, in order. */
const EVENTS = 'select position from event_store.events where stream = $1 order by revision';

describe('a subscription that meets an event that somebody wrote by SQL', () => {
  let harness: SubscriptionHarness;

  withSubscriptions((opened) => (harness = opened), 'delete from event_store.events');
  beforeEach(() => {
    jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
  });

  const sql = async (text: string, values: unknown[] = []): Promise<string[]> =>
    (await harness.database.pool.query<{ position: string }>(text, values)).rows.map(
      ({ position }) => position,
    );

  /** Three genuine events in a stream, and the positions of them. */
  const genuine = async (): Promise<{ stream: string; positions: string[] }> => {
    const stream = `thing-${newId()}`;
    const events = upTo(3).map((n) => ({
      id: newId(),
      type: RELEVANT,
      data: { n },
      metadata: { actor: 'spec' },
    }));
    await harness.writer.commit({ appends: [{ stream, events, expected: 'no_stream' }] });
    return { stream, positions: await sql(EVENTS, [stream]) };
  };

  /** The subscription applies `before`, halts at `position`, and continues once the row is deleted. */
  const haltsAt = async (position: string, before: readonly number[]): Promise<void> => {
    const after = await harness.write(1, RELEVANT, 9);
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
    await eventually(() => runner.states()[0]?.position === after);
    expect(runner.states()[0]?.haltedAt).toBeNull();
  };

  it('halts at an event without a MAC, and continues when it is deleted', async () => {
    await harness.write(2);
    const [position] = await sql(
      `insert into event_store.events
       values (nextval('event_store.position'), 'thing-x', 0, $1, $2, '{"n":7}', '{}', now()) returning position`,
      [newId(), RELEVANT],
    );
    await haltsAt(position!, upTo(2));
    expect(await harness.applied()).toEqual([0, 1, 9]);
  });

  it('halts at one that arrives while it follows', async () => {
    const { runner } = harness.process(harness.view());
    runner.start();
    await harness.write(2);
    await eventually(async () => (await harness.applied()).length === 2);
    const [position] = await sql(
      `insert into event_store.events
       values (nextval('event_store.position'), 'thing-y', 0, $1, $2, '{"n":7}', '{}', now()) returning position`,
      [newId(), RELEVANT],
    );
    await eventually(() => runner.states()[0]?.haltedAt?.position === position);
    await harness.write(1, RELEVANT, 2);
    await sql('delete from event_store.events where position = $1', [position]);
    await eventually(async () => (await harness.applied()).length === 3);
    await harness.write(1, RELEVANT, 3);
    await eventually(async () => (await harness.applied()).length === 4);
    expect(await harness.applied()).toEqual(upTo(4));
  });

  it.each([
    ['data', `data = '{"n":5}'`],
    ['metadata', `metadata = replace(metadata, 'spec', 'root')`],
    ['the type', `type = 'thing.other.v1'`],
    ['the id', `id = gen_random_uuid()`],
    ['the stream', `stream = 'thing-other'`],
    ['the revision', `revision = 17`],
    ['the MAC of another event', `metadata = (select metadata from event_store.events where revision = 0)`],
    ['the MAC removed', `metadata = '{"actor":"spec"}'`],
  ])('halts at an event of which somebody changed %s', async (_, change) => {
    const { positions } = await genuine();
    await sql(`update event_store.events set ${change} where position = $1`, [positions[1]]);
    await haltsAt(positions[1]!, [0]);
  });

  it('halts at the first of two events that somebody swapped, and continues when they are swapped back', async () => {
    const { stream, positions } = await genuine();
    const swap = async (): Promise<void> => {
      await sql('update event_store.events set revision = revision + 10 where stream = $1', [stream]);
      await sql(
        `update event_store.events set revision = case revision when 10 then 1 when 11 then 0 else 2 end
         where stream = $1`,
        [stream],
      );
    };
    await swap();
    const { runner } = harness.process(harness.view());
    runner.start();
    await eventually(() => runner.states()[0]?.haltedAt?.position === positions[0]);
    expect(await harness.applied()).toEqual([]);
    await swap();
    await eventually(async () => (await harness.applied()).length === 3);
  });

  it('is not rebuilt from one', async () => {
    const { positions } = await genuine();
    await sql(`update event_store.events set data = '{"n":5}' where position = $1`, [positions[1]]);
    const { rebuild } = harness.process({ ...harness.view(), tables: { schema: 'public', names: ['seen'] } });
    await expect(rebuild.rebuild(harness.name)).rejects.toThrow(`position ${positions[1]}`);
  });

  it('does not let its stream be read for a decision', async () => {
    const { stream } = await genuine();
    await sql(`update event_store.events set data = '{"n":5}' where stream = $1 and revision = 2`, [stream]);
    await expect(harness.writer.readStream(stream)).rejects.toMatchObject({ code: 'unavailable' });
  });
});
