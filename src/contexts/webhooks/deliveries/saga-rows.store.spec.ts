import { beforeEach, describe, expect, it } from '@jest/globals';
import { onTestDatabase } from '../../../../test/support/postgres.js';
import { WebhookHistory } from '../../../../test/support/webhooks/webhook-history.js';
import type { JsonObject, RecordedEvent } from '../../../platform/event-store/port.js';
import { newId } from '../../../kernel/ids.js';
import { ALL_CONTEXTS } from '../../../composition.js';
import { react } from './deliveries.saga.js';
import { publishedBy } from './published-events.service.js';
import { loadEndpoints, saveEndpoints, type EndpointRow } from './saga-rows.store.js';

const db = onTestDatabase();
let history: WebhookHistory;
let merchant_id: string;
let endpoint_id: string;

beforeEach(() => {
  history = new WebhookHistory();
  [merchant_id, endpoint_id] = [history.merchant, newId()];
});

const event = (name: string, data: JsonObject): RecordedEvent =>
  history.event(`webhook_endpoint.${name}.v1`, { endpoint_id, ...data });

const day = (number: number): string => `2026-01-0${number}T00:00:00.000Z`;
const registered = () =>
  event('registered', {
    url: 'https://example.com/',
    description: null,
    event_types: ['payout.failed'],
    sealed_signing_secret: 'sealed-0',
    created_at: day(1),
  });
const rotated = (onDay: number, former_expires_at: string) =>
  event('secret_rotated', {
    rotation_id: newId(),
    sealed_signing_secret: `sealed-${onDay}`,
    former_expires_at,
    at: day(onDay),
  });

/** Applies events like the saga: load, fold, save, each event in a separate transaction. */
async function handle(each: RecordedEvent): Promise<void> {
  await db.database.transaction(async (tx) => {
    const { endpoints } = react([each], await loadEndpoints([each], tx), publishedBy(ALL_CONTEXTS));
    await saveEndpoints(endpoints, tx);
  });
}

async function snapshot(): Promise<EndpointRow | undefined> {
  const rows = await db.database.query<EndpointRow & { [column: string]: unknown }>(
    'select *, to_json(failures_since) as failures_since from webhooks.endpoint_snapshots where endpoint_id = $1',
    [endpoint_id],
  );
  return rows[0];
}

/** Returns the row after every event was applied twice, and after all were applied again. */
async function after(...events: RecordedEvent[]): Promise<EndpointRow | undefined> {
  for (const each of events) {
    await handle(each);
    await handle(each);
  }
  const found = await snapshot();
  for (const each of events) await handle(each);
  expect(await snapshot()).toEqual(found);
  return found;
}

describe('the row of an endpoint', () => {
  it('contains the latest values, the valid former secrets and the time of the last enabling', async () => {
    const found = await after(
      registered(),
      event('disabled', { cause: 'failing', at: day(2) }),
      event('enabled', { at: day(3) }),
      event('updated', {
        url: 'https://example.org/',
        description: null,
        event_types: null,
        updated_at: day(4),
      }),
      rotated(4, day(9)),
      rotated(5, day(6)),
      rotated(6, day(8)),
    );
    expect(found).toMatchObject({
      merchant_id,
      status: 'enabled',
      url: 'https://example.org/',
      event_types: null,
      sealed_signing_secret: 'sealed-6',
      former_secrets: [
        { sealed: 'sealed-5', expires_at: day(8) },
        { sealed: 'sealed-0', expires_at: day(9) },
      ],
    });
    expect(new Date(found!.failures_since).toISOString()).toBe(day(3));
  });

  it('stays deleted if older events are applied, and is read only for events that name the endpoint', async () => {
    const [begun, deleted] = [registered(), event('deleted', { at: day(2) })];
    expect(await after(begun, deleted)).toMatchObject({ status: 'deleted' });
    const found = (each: RecordedEvent) => db.database.transaction((tx) => loadEndpoints([each], tx));
    expect(await found({ ...deleted, data: { merchant_id } })).toEqual([]);
    expect(await found(deleted)).toMatchObject([{ endpoint_id, status: 'deleted' }]);
  });

  it('does not exist for an endpoint that was never registered', async () => {
    expect(await after(event('enabled', { at: day(2) }))).toBeUndefined();
  });
});
