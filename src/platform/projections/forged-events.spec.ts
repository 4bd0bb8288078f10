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
  const genuine = async (): Promise<{ positions: string[] }> => {
    const stream = `thing-${newId()}`;
    const events = upTo(3).map((n) => ({
      id: newId(),
      type: RELEVANT,
      data: { n },
      metadata: { actor: 'spec' },
    }));
    await harness.writer.commit({ appends: [{ stream, events, expected: 'no_stream' }] });
    return { positions: await sql(EVENTS, [stream]) };
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

  it('halts at an event of which somebody changed the data', async () => {
    const { positions } = await genuine();
    await sql(`update event_store.events set data = '{"n":5}' where position = $1`, [positions[1]]);
    await haltsAt(positions[1]!, [0]);
  });

  it('is not rebuilt from one', async () => {
    const { positions } = await genuine();
    await sql(`update event_store.events set data = '{"n":5}' where position = $1`, [positions[1]]);
    const { rebuild } = harness.process({ ...harness.view(), tables: { schema: 'public', names: ['seen'] } });
    await expect(rebuild.rebuild(harness.name)).rejects.toThrow(`position ${positions[1]}`);
  });
});
