import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { onTestDatabase } from '../../../../test/support/postgres.js';
import { decodeCursor } from '../../../platform/postgres/page-cursor.js';
import { JourneyView, SCANNED_EVENTS, type JourneyFilter } from './journey.view.js';

const EVENTS = 2 * SCANNED_EVENTS + 500;
const USER = 'customer-1';

interface Page {
  readonly events: readonly { readonly event_id: string; readonly event_name: string }[];
  readonly next_cursor: string | null;
}

/** Events of one user, numbered from the newest; several have the same time. */
describe('journey pages filtered by a rare event name', () => {
  const merchant = randomUUID();
  const db = onTestDatabase();
  /** Ids in the order of the journey. */
  let order: string[];

  beforeAll(async () => {
    await db.pool.query(
      `insert into tracking.events
         (merchant_id, event_id, received_at, user_external_id, event_name, event_datetime, payload)
       select $1, gen_random_uuid(), now(), $2, 'common',
         timestamptz '2026-01-31T00:00:00Z' - (n / 3) * interval '1 microsecond', '{}'
       from generate_series(1, ${EVENTS}) n`,
      [merchant, USER],
    );
    await db.pool.query('analyze tracking.events');
    const { rows } = await db.pool.query<{ event_id: string }>(
      `select event_id from tracking.events where merchant_id = $1 order by event_datetime desc, event_id desc`,
      [merchant],
    );
    order = rows.map(({ event_id }) => event_id);
  });

  /** Names the events at these places in the order, counted from 0; the ids of them. */
  async function name(eventName: string, places: readonly number[]): Promise<string[]> {
    const ids = places.map((place) => order[place]!);
    const sql = 'update tracking.events set event_name = $1 where merchant_id = $2 and event_id = any ($3)';
    await db.pool.query(sql, [eventName, merchant, ids]);
    return ids;
  }
  async function walk(
    filter: Omit<JourneyFilter, 'page_cursor'>,
  ): Promise<{ ids: string[]; sizes: number[] }> {
    const [ids, sizes]: [string[], number[]] = [[], []];
    for (let after: JourneyFilter['page_cursor']; sizes.length < 2 * EVENTS;) {
      const text = await new JourneyView(db.database).page(merchant, USER, {
        ...filter,
        ...(after ? { page_cursor: after } : {}),
      });
      const { events, next_cursor } = JSON.parse(text) as Page;
      ids.push(...events.map(({ event_id }) => event_id));
      sizes.push(events.length);
      if (next_cursor === null) break;
      after = decodeCursor(next_cursor)!;
    }
    return { ids, sizes };
  }

  it.each<readonly [string, readonly number[]]>([
    [
      'on both sides of the end of a scan',
      [SCANNED_EVENTS - 2, SCANNED_EVENTS - 1, SCANNED_EVENTS, SCANNED_EVENTS + 1],
    ],
    ['at the end of each scan', [SCANNED_EVENTS - 1, 2 * SCANNED_EVENTS - 1]],
    ['at the start of each scan', [0, SCANNED_EVENTS, 2 * SCANNED_EVENTS]],
    ['at the very end', [EVENTS - 2, EVENTS - 1]],
    ['all over', Array.from({ length: 40 }, (_, index) => index * 260)],
  ])('contain each event once and in order if the events are %s', async (where, places) => {
    const eventName = `rare ${where}`;
    const ids = await name(eventName, places);
    for (const pageSize of [1, 3, 100]) {
      const walked = await walk({ event_name: eventName, page_size: pageSize });
      expect(walked.ids).toEqual(ids);
      expect(Math.max(...walked.sizes)).toBeLessThanOrEqual(pageSize);
    }
    // The last scanned event of a page is on no page twice.
    expect((await walk({ event_name: eventName, page_size: 1000 })).sizes.length).toBe(
      Math.ceil(EVENTS / SCANNED_EVENTS),
    );
  });

  it('can be empty with a cursor, because a page scans at most SCANNED_EVENTS', async () => {
    const ids = await name('last', [EVENTS - 1]);
    expect(await walk({ event_name: 'last', page_size: 10 })).toEqual({ ids, sizes: [0, 0, 1] });
    expect(await walk({ event_name: 'never', page_size: 10 })).toEqual({ ids: [], sizes: [0, 0, 0] });
  });
});
