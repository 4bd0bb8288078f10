import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { testDatabase, type TestDatabase } from '../../../../test/support/postgres.js';
import type { JsonObject, RecordedEvent } from '../../../platform/event-store/port.js';
import { systemClock } from '../../../kernel/clock.js';
import { newId } from '../../../kernel/ids.js';
import { readConfig } from '../../../platform/config/config.js';
import { EndpointsView, endpointsProjection } from './endpoints.js';

let db: TestDatabase;
let view: EndpointsView;
const merchant_id = newId();
const [kept, deleted] = [newId(), newId()];

beforeAll(async () => {
  db = await testDatabase();
  view = new EndpointsView(db.database, systemClock, readConfig({}));
});
afterAll(() => db.drop());

function history(): RecordedEvent[] {
  const fields = {
    url: 'https://example.com/',
    description: 'é',
    event_types: null,
    sealed_signing_secret: 'hidden',
  };
  const events: [string, JsonObject][] = [
    ['registered', { endpoint_id: kept, ...fields, created_at: '2026-01-01T00:00:00.000Z' }],
    ['registered', { endpoint_id: deleted, ...fields, created_at: '2026-01-02T00:00:00.000Z' }],
    [
      'updated',
      {
        ...{
          endpoint_id: kept,
          url: 'https://example.com/2',
          description: null,
          event_types: ['payout.failed'],
        },
        updated_at: '2026-01-03T00:00:00.000Z',
      },
    ],
    ['disabled', { endpoint_id: kept, cause: 'gone', at: '2026-01-04T00:00:00.000Z' }],
    ['disabled', { endpoint_id: deleted, cause: 'failing', at: '2026-01-04T06:00:00.000Z' }],
    ['enabled', { endpoint_id: deleted, at: '2026-01-04T07:00:00.000Z' }],
    [
      'secret_rotated',
      {
        ...{ endpoint_id: kept, rotation_id: newId(), sealed_signing_secret: 'hidden too' },
        ...{ former_expires_at: '2026-01-05T12:00:00.000Z', at: '2026-01-04T12:00:00.000Z' },
      },
    ],
    ['deleted', { endpoint_id: deleted, at: '2026-01-05T00:00:00.000Z' }],
  ];
  return events.map(([name, data], revision) => ({
    ...{ id: newId(), type: `webhook_endpoint.${name}.v1`, data: { merchant_id, ...data }, metadata: {} },
    ...{
      stream: `webhook_endpoints-${merchant_id}`,
      revision,
      position: `${revision + 1}`,
      recordedAt: new Date(),
    },
  }));
}

const apply = (events: RecordedEvent[]) =>
  db.database.transaction((tx) => endpointsProjection.apply(events, tx));

it('shows the endpoints of a merchant, however often it sees their events', async () => {
  const expected = {
    ...{ id: kept, url: 'https://example.com/2', description: null, status: 'disabled' },
    ...{ created_at: '2026-01-01T00:00:00.000Z', updated_at: '2026-01-04T12:00:00.000Z' },
    event_types: ['payout.failed'],
    ...{ failure_count: 0, disabled_cause: 'gone', disabled_at: '2026-01-04T00:00:00.000Z' },
  };
  const events = history();
  for (const event of events) {
    await apply([event, event]);
    if (event.type !== 'webhook_endpoint.enabled.v1') continue;
    const none = { status: 'enabled', disabled_cause: null, disabled_at: null };
    expect(await view.find(merchant_id, deleted)).toMatchObject(none);
  }
  expect(await view.list(merchant_id)).toEqual([expected]);
  await apply(events);
  expect(await view.list(merchant_id)).toEqual([expected]);
  expect(await view.find(merchant_id, kept)).toEqual(expected);
  expect(await view.find(merchant_id, deleted)).toBeNull();
  expect(await view.find(newId(), kept)).toBeNull();

  await db.pool.query('truncate webhooks.endpoints');
  expect(await view.list(merchant_id)).toEqual([]);
  await apply(events);
  expect(await view.list(merchant_id)).toEqual([expected]);
});
