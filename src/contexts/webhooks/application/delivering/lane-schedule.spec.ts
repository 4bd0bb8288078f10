import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import type { Queue } from 'bullmq';
import type { DeliveryTable } from '../../store/delivery-table.js';
import { LaneSchedule, type LaneJob } from './lane-schedule.js';

const DAY_MS = 86_400_000;

describe('lane schedule', () => {
  jest.spyOn(Logger.prototype, 'warn').mockReturnValue();
  let added: { readonly jobId: string; readonly delay: number }[];
  let takes: () => Promise<void>;
  let dueIn: number | null;
  let schedule: LaneSchedule;
  /** A lane with something left for later ends. */
  const ended = (id: string): Promise<void> => {
    schedule.expect(id);
    return schedule.ended(id);
  };

  beforeEach(() => {
    added = [];
    takes = () => Promise.resolve();
    dueIn = 5000;
    const add = (_name: string, _job: LaneJob, options: { jobId: string; delay: number }): Promise<void> => {
      added.push(options);
      return takes();
    };
    schedule = new LaneSchedule(
      { add } as unknown as Queue<LaneJob>,
      { nextDueIn: () => Promise.resolve(dueIn) } as unknown as DeliveryTable,
    );
  });

  it('adds a job for the next delivery of a lane, never too early, however far ahead', async () => {
    for (const each of [0, 5000, 3 * DAY_MS]) {
      dueIn = each;
      await ended('a');
      const { delay } = added.at(-1)!;
      expect(delay).toBeGreaterThanOrEqual(each);
      expect(delay).toBeLessThanOrEqual(each + 250);
    }
    expect(added).toHaveLength(3);
  });

  it('adds none for a lane with nothing to send, and no second one for the same delivery', async () => {
    jest.spyOn(Date, 'now').mockReturnValue(1_000_000_100);
    await Promise.all(Array.from({ length: 50 }, () => ended('a')));
    await ended('b');
    dueIn = null;
    await ended('c');
    dueIn = 5000;
    await schedule.ended('c');
    await schedule.ended('never failed');
    jest.mocked(Date.now).mockRestore();
    expect(added.map(({ jobId }) => jobId.slice(0, 1))).toEqual(['a', 'b']);
  });

  it('adds the job again when the queue refused it', async () => {
    takes = () => Promise.reject(new Error('unavailable'));
    await ended('a');
    takes = () => Promise.resolve();
    await ended('a');
    expect(added).toHaveLength(2);
  });

  it('leaves the rest to the sweeper when many lanes end, and lets no jobs pile up for a queue that is unresponsive', async () => {
    jest.useFakeTimers();
    let back!: () => void;
    const unresponsive = new Promise<void>((resolve) => (back = resolve));
    takes = () => unresponsive;
    const counts: number[] = [];
    const waiting: Promise<void>[] = [];
    for (const second of [1, 2, 3]) {
      waiting.push(...Array.from({ length: 1000 }, (_, n) => ended(`e${second}-${n}`)));
      await jest.advanceTimersByTimeAsync(1000);
      counts.push(added.length);
    }
    expect(counts).toEqual([100, 200, 200]);
    back();
    await Promise.all(waiting);
    await ended('another');
    expect(added).toHaveLength(201);
    jest.useRealTimers();
  });
});
