import { describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { onTestDatabase } from '../../../../test/support/postgres.js';
import { EventRetention } from './event-retention.store.js';
import { trackingConfig } from '../tracking.config.js';

const CONFIG = trackingConfig({});

const DAY_MS = 86_400_000;

describe('the retention of tracking events', () => {
  const db = onTestDatabase();

  const batch = async (state: string, ageDays: number): Promise<string> => {
    const id = randomUUID();
    await db.database.query(
      `insert into tracking.batches (batch_id, merchant_id, received_at, item_count, body, state)
       values ($1, $1, $2, 0, '', $3)`,
      [id, new Date(Date.now() - ageDays * DAY_MS), state],
    );
    return id;
  };
  const kept = async (): Promise<unknown[]> =>
    (await db.database.query('select batch_id from tracking.batches')).map(({ batch_id }) => batch_id);

  it('deletes finished batches after 14 days, but no unfinished batch', async () => {
    const retention = new EventRetention(db.database, { now: () => new Date() }, CONFIG);
    await batch('forwarded', 15);
    await batch('failed', 15);
    const batches = [
      await batch('forwarded', 13),
      await batch('accepted', 400),
      await batch('processed', 400),
    ];
    await retention.prune();
    expect(new Set(await kept())).toEqual(new Set(batches));
  });

  it('deletes nothing while the clock of the process is 30 days behind', async () => {
    const behind = { now: () => new Date(Date.now() - 30 * DAY_MS) };
    const retention = new EventRetention(db.database, behind, CONFIG);
    const old = await batch('forwarded', 15);
    await retention.prune();
    expect(await kept()).toContain(old);
  });
});
