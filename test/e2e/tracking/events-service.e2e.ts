import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { sharedApp } from '../../support/app.js';
import { batchOf, eventItem, type SentItem } from '../../support/tracking/event-batches.js';
import { eventually } from '../../support/eventually.js';
import { USERS } from '../../support/payouts/payout-calls.js';
import type { ApiResponse } from '../../support/http/signed-client.js';

interface Page {
  readonly events: readonly Record<string, unknown>[];
  readonly next_cursor: string | null;
}

const app = await sharedApp();
const processed = async (): Promise<void> => {
  const waiting = `select from tracking.batches where state = 'accepted' limit 1`;
  await eventually(async () => (await app.database.query(waiting)).length === 0);
};

const merchant = app.merchant;

describe('GET /users/{id}/events', () => {
  let phone = 0;

  async function userOf(external_id?: string): Promise<string> {
    phone += 1;
    const phone_number = `+4915112${String(phone).padStart(6, '0')}`;
    return (await merchant.post(USERS, { phone_number, external_id })).json().user.id;
  }
  async function send(items: readonly SentItem[], by = merchant): Promise<void> {
    expect((await by.post('/merchants/v1/events', batchOf(items))).status).toBe(202);
    await processed();
  }
  const journey = (userId: string, query = ''): Promise<ApiResponse> =>
    merchant.get(`${USERS}/${userId}/events${query}`);
  const page = async (userId: string, query = ''): Promise<Page> => {
    const response = await journey(userId, query);
    expect(response.status).toBe(200);
    return response.json();
  };
  const walk = async (userId: string, query: string): Promise<unknown[]> => {
    const ids: unknown[] = [];
    for (let cursor = ''; ;) {
      const { events, next_cursor } = await page(userId, `?${query}${cursor}`);
      ids.push(...events.map((event) => event['event_id']));
      if (next_cursor === null) return ids;
      cursor = `&page_cursor=${next_cursor}`;
    }
  };

  it('200: lists events from before and after the user was created, as they were sent', async () => {
    const externalId = `Zoë 🐙 ${randomUUID()}`;
    const copied = ` \u200e${externalId.replace(' 🐙', ' 🐙\u200b')}\ufeff `;
    const payload = '{"n": 12345678901234567890,"a":1.0, "a":"\\u00e9"}';
    const [early, late] = [randomUUID(), randomUUID()];
    const text = `{"events":[{"event_name":"Signed UP","payload":${payload},"event_id":"${early.toUpperCase()}",
      "event_datetime":"2026-01-31T01:00:00.5+02:00","user_external_id":${JSON.stringify(copied)}}]}`;
    expect((await merchant.post('/merchants/v1/events', text)).status).toBe(202);
    await processed();
    const userId = await userOf(copied);
    await send([
      eventItem({
        event_id: late,
        user_external_id: externalId,
        event_datetime: '2026-01-31T00:00:00.000001Z',
      }),
    ]);
    const response = await journey(userId.toUpperCase());
    expect(response.json()).toMatchObject({
      events: [
        { event_id: late, event_datetime: '2026-01-31T00:00:00.000001Z', user_external_id: externalId },
        {
          event_id: early,
          event_name: 'signed up',
          event_datetime: '2026-01-30T23:00:00.500Z',
          user_external_id: externalId,
          device_id: null,
        },
      ],
      next_cursor: null,
    });
    expect(response.text).toContain(`"payload":${payload},"received_at":"`);
  });

  it('200: lists nothing for a user without events or without external_id', async () => {
    for (const externalId of [undefined, randomUUID()])
      expect((await journey(await userOf(externalId))).text).toBe('{"events":[],"next_cursor":null}');
  });

  it('200: lists only events that the merchant itself sent for that user', async () => {
    const externalId = randomUUID();
    const userId = await userOf(externalId);
    await send([eventItem({ user_external_id: externalId })], app.secondMerchant);
    await send([
      eventItem({ user_external_id: `${externalId}x` }),
      eventItem({ user_external_id: externalId.slice(1) }),
    ]);
    expect((await page(userId)).events).toEqual([]);
  });

  it.each([
    ...['page_size=0', 'page_size=1001', 'page_size=x', 'page_cursor=x', 'page_cursor='],
    ...['event_from=2026-02-30', 'event_from=0000-01-01', 'event_to=yesterday'],
    ...['event_name=', 'event_name=a&event_name=b', 'event_name=%00'],
  ])('400: refuses %s', async (query) => {
    const name = query.slice(0, query.indexOf('='));
    const response = await journey(randomUUID(), `?${query}`);
    expect(response.json()).toMatchObject({ status: 400, errors: {}, detail: expect.stringContaining(name) });
  });

  it('200: filters by name in any letter case and by inclusive days', async () => {
    const externalId = randomUUID();
    const userId = await userOf(externalId);
    const at = (event_datetime: string, event_name = 'Ångström'): SentItem =>
      eventItem({ user_external_id: externalId, event_datetime, event_name });
    const [before, first, last, after] = [
      at('2026-01-30T23:59:59.999999Z'),
      at('2026-01-31T00:00:00Z', 'other'),
      at('2026-02-01T23:59:59.999999Z'),
      at('2026-02-02T00:00:00Z'),
    ];
    await send([before, first, last, after]);
    const ids = (items: readonly SentItem[]): unknown[] => items.map((item) => item['event_id']);
    expect(await walk(userId, 'event_from=2026-01-31&event_to=2026-02-01')).toEqual(ids([last, first]));
    expect(await walk(userId, `event_name=${encodeURIComponent('ÅNGSTRÖM')}`)).toEqual(
      ids([after, last, before]),
    );
    expect(await walk(userId, `event_name=OTHER&event_to=2026-01-31`)).toEqual(ids([first]));
    expect(await walk(userId, `event_name=%20OTHER%20&event_to=2026-01-31%20`)).toEqual(ids([first]));
  });

  it('200: returns shorter pages of events with large payloads, and omits no event', async () => {
    const externalId = randomUUID();
    const userId = await userOf(externalId);
    const sent = Array.from({ length: 7 }, (_, index) =>
      eventItem({
        user_external_id: externalId,
        event_datetime: `2026-03-0${9 - index}T00:00:00Z`,
        event_name: 'large',
        payload: { text: 'x'.repeat(1_000_000) },
      }),
    );
    for (const item of sent) await send([item]);
    const ids = sent.map((item) => item['event_id']);
    expect((await page(userId, '?page_size=1000')).events.map((event) => event['event_id'])).toEqual(
      ids.slice(0, 5),
    );
    for (const query of ['page_size=1000', 'page_size=5', 'page_size=7&event_name=LARGE'])
      expect(await walk(userId, query)).toEqual(ids);
  });

  it('200: lists every event once and in order on pages of any size, even while more are accepted', async () => {
    const externalId = randomUUID();
    const userId = await userOf(externalId);
    const time = fc
      .tuple(fc.integer({ min: 1, max: 12 }), fc.constantFrom('000000', '000001', '123456'))
      .map(([month, us]) => `2026-${String(month).padStart(2, '0')}-01T00:00:00.${us}Z`);
    const sent = fc
      .sample(time, 120)
      .map((event_datetime) => eventItem({ user_external_id: externalId, event_datetime }));
    await send(sent);
    const expected = [...sent].sort((a, b) => (key(a) < key(b) ? 1 : -1)).map((item) => item['event_id']);
    for (const size of [1, 7, 119, 120, 121])
      expect(await walk(userId, `page_size=${size}`)).toEqual(expected);
    const more = Array.from({ length: 60 }, () =>
      eventItem({ user_external_id: externalId, event_datetime: fc.sample(time, 1)[0]! }),
    );
    const [, walked] = await Promise.all([
      (async () => {
        for (let index = 0; index < more.length; index += 10) await send(more.slice(index, index + 10));
      })(),
      walk(userId, 'page_size=5'),
    ]);
    const known = new Set(expected);
    expect(walked.filter((id) => known.has(id))).toEqual(expected);
    expect(new Set(walked).size).toBe(walked.length);
  });
});

const key = (item: SentItem): string => `${String(item['event_datetime'])} ${String(item['event_id'])}`;
