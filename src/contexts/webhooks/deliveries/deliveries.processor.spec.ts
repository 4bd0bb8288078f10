import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import type { Queue } from 'bullmq';
import type { ProcessConfig } from '../../../platform/config/config.js';
import { DeliveryProcessor, type LaneJob } from './deliveries.processor.js';
import type { DeliverySender } from './delivery-sender.service.js';
import type { DeliveryTable } from './deliveries.store.js';

describe('jobs that wake the sender of an endpoint', () => {
  jest.spyOn(Logger.prototype, 'warn').mockReturnValue();
  let added: { readonly jobId: string; readonly delay: number }[];
  let takes: () => Promise<void>;
  let processor: DeliveryProcessor;

  beforeEach(() => {
    jest.useFakeTimers({ now: 1_000_000_100 });
    added = [];
    takes = () => Promise.resolve();
    const add = (_name: string, _job: LaneJob, options: { jobId: string; delay: number }): Promise<void> => {
      added.push(options);
      return takes();
    };
    const queue = { add } as unknown as Queue<LaneJob>;
    processor = new DeliveryProcessor(queue, {} as ProcessConfig, {} as DeliveryTable, {} as DeliverySender);
  });
  afterEach(() => void jest.useRealTimers());

  it.each([1, 5000, 60_000])('are added for a retry in %d ms and never run too early', (delayMs) => {
    processor.wakeIn('a', delayMs);
    expect(added).toHaveLength(1);
    expect(added[0]!.delay).toBeGreaterThanOrEqual(delayMs);
    expect(added[0]!.delay).toBeLessThanOrEqual(delayMs + 250);
  });

  it('are added once per endpoint in 250 ms, and never for a retry after more than a minute', () => {
    for (let n = 0; n < 50; n += 1) processor.wakeIn('a', 5000);
    processor.wakeIn('b', 5000);
    processor.wakeIn('c', 60_001);
    expect(added.map(({ jobId }) => jobId.slice(0, 1))).toEqual(['a', 'b']);
  });

  it('are added again if the queue refused them', async () => {
    takes = () => Promise.reject(new Error('unavailable'));
    processor.wakeIn('a', 5000);
    await jest.advanceTimersByTimeAsync(0);
    takes = () => Promise.resolve();
    processor.wakeIn('a', 5000);
    expect(added).toHaveLength(2);
  });

  it('are limited to 100 per second, and to none while the queue does not respond', async () => {
    let back!: () => void;
    const unresponsive = new Promise<void>((resolve) => (back = resolve));
    const addMany = (name: string): void => {
      for (let n = 0; n < 1000; n += 1) processor.wakeIn(`${name}${n}`, 5000);
    };
    addMany('a');
    expect(added).toHaveLength(100);
    takes = () => unresponsive;
    await jest.advanceTimersByTimeAsync(1000);
    addMany('b');
    await jest.advanceTimersByTimeAsync(5000);
    addMany('c');
    expect(added).toHaveLength(200);
    back();
    await jest.advanceTimersByTimeAsync(1000);
    addMany('d');
    expect(added).toHaveLength(300);
  });
});
