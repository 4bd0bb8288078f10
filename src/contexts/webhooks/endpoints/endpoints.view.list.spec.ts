import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { onTestDatabase } from '../../../../test/support/postgres.js';
import { WebhookHistory } from '../../../../test/support/webhooks/webhook-history.js';
import { ALL_CONTEXTS } from '../../../composition.js';
import { newId } from '../../../kernel/ids.js';
import type { CommandLoop } from '../../../platform/event-store/command-loop.js';
import type { JsonObject, RecordedEvent } from '../../../platform/event-store/port.js';
import { decodeCursor } from '../../../platform/postgres/page-cursor.js';
import type { SubscriptionProgress } from '../../../platform/projections/subscription-progress.js';
import type { AutomaticDisablingProcessor } from './automatic-disabling.processor.js';
import { deliveriesSaga } from '../deliveries/deliveries.saga.js';
import { publishedBy } from '../deliveries/published-events.service.js';
import { EndpointsView, type EndpointsFilter } from './endpoints.view.js';

const day = (number: number): string => `2026-01-0${number}T00:00:00.000Z`;

describe('the list of webhook endpoints', () => {
  const db = onTestDatabase();
  let list: EndpointsView;
  let merchant_id: string;

  beforeAll(() => {
    const failing = { counts: async (ids: readonly string[]) => new Map(ids.map((id) => [id, 3])) };
    const disabling = failing as unknown as AutomaticDisablingProcessor;
    list = new EndpointsView({} as CommandLoop, disabling, db.database, {} as SubscriptionProgress);
  });
  const nextMerchant = (): void => void (merchant_id = newId());
  beforeEach(nextMerchant);

  const event = (name: string, endpoint_id: string, data: JsonObject = {}): RecordedEvent =>
    new WebhookHistory(merchant_id).event(`webhook_endpoint.${name}.v1`, { endpoint_id, ...data });
  const registered = (id: string, onDay = 1): RecordedEvent =>
    event('registered', id, {
      url: 'https://example.com/',
      description: null,
      event_types: null,
      sealed_signing_secret: 'sealed',
      created_at: day(onDay),
    });
  const saga = deliveriesSaga(
    publishedBy(ALL_CONTEXTS),
    () => undefined,
    () => 'mac',
  );
  const apply = (...events: RecordedEvent[]): Promise<void> =>
    db.database.transaction((tx) => saga.apply(events, tx));
  const walk = async (
    merchants: readonly string[] | null,
    filter: Omit<EndpointsFilter, 'page_size'> = {},
  ): Promise<string[]> => {
    const ids: string[] = [];
    for (let next: EndpointsFilter | null = { ...filter, page_size: 2 }; next !== null;) {
      const { webhook_endpoints, next_cursor } = await list.page(merchants, next);
      ids.push(...webhook_endpoints.map(({ id }) => id));
      next = next_cursor === null ? null : { ...next, page_cursor: decodeCursor(next_cursor)! };
    }
    return ids;
  };

  it.each([1, 2, 20])('is correct if events are repeated and are applied %i at a time', async (size) => {
    const [id, gone] = [newId(), newId()];
    const life = [
      registered(id),
      registered(gone),
      event('updated', id, {
        url: 'https://example.com/moved',
        description: 'orders',
        event_types: ['payout.received'],
        updated_at: day(2),
      }),
      event('disabled', id, { cause: 'failing', at: day(3) }),
      event('enabled', id, { at: day(4) }),
      event('secret_rotated', id, { rotation_id: newId(), sealed_signing_secret: 'other', at: day(5) }),
      event('disabled', id, { cause: 'gone', at: day(6) }),
      event('deleted', gone, { at: day(7) }),
    ];
    const twice = life.flatMap((each, at) => [each, ...life.slice(0, at + 1)]);
    for (let from = 0; from < twice.length; from += size) await apply(...twice.slice(from, from + size));
    await apply(life[0]!, life[1]!, life[4]!);
    const { webhook_endpoints } = await list.page([merchant_id], { page_size: 10 });
    expect(JSON.parse(JSON.stringify(webhook_endpoints))).toEqual([
      {
        id,
        merchant_id,
        url: 'https://example.com/moved',
        description: 'orders',
        status: 'disabled',
        created_at: day(1),
        updated_at: day(6),
        event_types: ['payout.received'],
        failure_count: 3,
        disabled_cause: 'gone',
        disabled_at: day(6),
      },
    ]);
  });

  it('has each endpoint once over all pages, newest first, filtered by merchant, status or id', async () => {
    const ids = Array.from({ length: 5 }, () => newId());
    const first = merchant_id;
    await apply(...ids.slice(0, 3).map((id, n) => registered(id, n + 1)));
    await apply(event('disabled', ids[1]!, { cause: 'merchant', at: day(8) }));
    nextMerchant();
    await apply(...ids.slice(3).map((id, n) => registered(id, n + 4)));
    const newest = ids.toReversed();
    expect(await walk([first, merchant_id])).toEqual(newest);
    expect((await walk(null)).filter((id) => ids.includes(id))).toEqual(newest);
    expect(await walk([first])).toEqual(newest.slice(2));
    expect(await walk([first], { status: 'disabled' })).toEqual([ids[1]]);
    expect(await walk(null, { endpoint_id: ids[4]! })).toEqual([ids[4]]);
    expect(await walk([])).toEqual([]);
  });
});
