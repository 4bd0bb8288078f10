import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, it } from '@jest/globals';
import { batchOf, eventItem } from '../../../../test/support/event-batches.js';
import { eventually } from '../../../../test/support/eventually.js';
import type { AcceptedBatch, AcceptedBatches } from '../store/accepted-batches.js';
import type { CountedEvents } from '../store/counted-events.js';
import type { Partitions } from '../store/partitions.js';
import { Processing } from './processing.js';

const [LOADED, LATE] = ['loaded', 'late'];

/** One merchant has more to process forever; the other comes when the run has begun. */
function processing(counted: string[]): Processing {
  const at = new Date();
  const batch: AcceptedBatch = {
    ...{ batch_id: 'any', received_at: at, received_exactly: at.toISOString(), item_count: 1 },
    body: Buffer.from(batchOf([eventItem()])),
  };
  const accepted: Pick<AcceptedBatches, 'merchants' | 'next'> = {
    merchants: async () => (counted.length === 0 ? [LOADED] : [LOADED, LATE]),
    next: async (merchantId) => (merchantId === LATE && counted.includes(LATE) ? [] : [batch]),
  };
  const events: Pick<CountedEvents, 'count'> = {
    count: async (merchantId) => {
      await sleep(5);
      counted.push(merchantId);
      return 1;
    },
  };
  const partitions: Pick<Partitions, 'having'> = { having: (work) => work() };
  return new Processing(accepted as AcceptedBatches, events as CountedEvents, partitions as Partitions);
}

let running: Processing | null = null;
afterEach(() => running?.work.stop());

it('gives a merchant a turn who comes while the backlog of another is worked off', async () => {
  const counted: string[] = [];
  running = processing(counted);
  running.work.start();
  await eventually(() => counted.includes(LATE), 10_000);
});
