import { beforeEach, describe, expect, it } from '@jest/globals';
import type { Queue } from 'bullmq';
import { LaneSchedule, type LaneJob } from './lane-schedule.js';

describe('lane schedule', () => {
  let added: { readonly jobId: string; readonly delay: number }[];
  let answer: () => Promise<void>;
  let schedule: LaneSchedule;

  beforeEach(() => {
    added = [];
    answer = () => Promise.resolve();
    const add = (_name: string, _job: LaneJob, options: { jobId: string; delay: number }): Promise<void> => {
      added.push(options);
      return answer();
    };
    schedule = new LaneSchedule({ add } as unknown as Queue<LaneJob>);
  });

  it('adds one job for what is due within the same quarter of a second, never too early', async () => {
    await Promise.all(Array.from({ length: 50 }, () => schedule.wakeIn('a', 5000)));
    await schedule.wakeIn('b', 5000);
    expect(added.length).toBeLessThanOrEqual(3);
    expect(added.every(({ delay }) => delay >= 5000 && delay <= 5250)).toBe(true);
  });

  it('leaves what is far ahead to the sweeper', async () => {
    await schedule.wakeIn('a', 300_000);
    expect(added).toEqual([]);
  });

  it('adds the job again when the queue refused it', async () => {
    answer = () => Promise.reject(new Error('away'));
    await schedule.wakeIn('a', 5000);
    answer = () => Promise.resolve();
    await schedule.wakeIn('a', 5000);
    expect(added).toHaveLength(2);
  });

  it('does not let jobs pile up for a queue that does not answer', async () => {
    let back!: () => void;
    const silence = new Promise<void>((resolve) => (back = resolve));
    answer = () => silence;
    const waiting = Array.from({ length: 3000 }, (_, n) => schedule.wakeIn(`e${n}`, 5000));
    expect(added).toHaveLength(1000);
    back();
    await Promise.all(waiting);
    await schedule.wakeIn('e2999', 5000);
    expect(added).toHaveLength(1001);
  });
});
