import type { PoolClient } from 'pg';
import { comparePositions, type RecordedEvent } from '../../event-store/port.js';
import type { SubscriptionDefinition } from '../../event-store/projection.js';
import { deriveId } from '../../kernel/ids.js';
import { WEBHOOK_TEST_REQUESTED, type WebhookTestRequested } from '../contract.js';
import { envelope, type PublishedEvent } from '../domain/envelope.js';
import { WEBHOOK_ENDPOINT_EVENTS, type WebhookEndpointEvent } from '../domain/webhook-endpoints.js';
import { evolveLane, lanesOf, saveLanes, type Lane } from './lane-states.js';
import { PUBLISHED_EVENTS, published } from './published-events.js';

export const DELIVERIES_SAGA = 'webhooks.deliveries';

interface DeliveryRow {
  readonly delivery_id: string;
  readonly endpoint_id: string;
  readonly merchant_id: string;
  readonly type: string;
  readonly body: string;
  readonly is_test: boolean;
  readonly traceparent: string | null;
}

/**
 * Turns events into deliveries: for each endpoint of the merchant that is enabled and wants the type at that place in
 * the stream, one row whose id follows from event and endpoint. Endpoints change in the same stream, so their state is
 * folded here too: what happened while an endpoint was disabled is never delivered to it (section 6.3).
 */
export function deliveriesSaga(wake: (endpointIds: readonly string[]) => void): SubscriptionDefinition {
  let touched: readonly string[] = [];
  return {
    name: DELIVERIES_SAGA,
    events: [...WEBHOOK_ENDPOINT_EVENTS, ...PUBLISHED_EVENTS, WEBHOOK_TEST_REQUESTED],
    apply: async (events, tx) => {
      const { lanes, deliveries } = react(events, await lanesOf(events, tx));
      await saveLanes(lanes, tx);
      await insertDeliveries(deliveries, tx);
      await dropDeliveries(lanes, tx);
      touched = [...new Set(deliveries.map((each) => each.endpoint_id))];
    },
    afterCommit: () => wake(touched),
  };
}

/** Pure: the lanes that changed and the deliveries to make, from the events in their order. */
export function react(
  events: readonly RecordedEvent[],
  before: readonly Lane[],
): { lanes: readonly Lane[]; deliveries: readonly DeliveryRow[] } {
  const lanes = new Map(before.map((lane) => [lane.endpoint_id, lane]));
  const changed = new Set<string>();
  const deliveries: DeliveryRow[] = [];
  for (const event of events) {
    const traceparent = event.metadata.traceparent ?? null;
    const deliver = (lane: Lane, delivery_id: string, content: PublishedEvent, is_test: boolean): void => {
      // A lane ahead of the event means that the event was seen before.
      if (comparePositions(lane.position, event.position) > 0) return;
      const { endpoint_id, merchant_id } = lane;
      const body = envelope(delivery_id, content);
      deliveries.push({
        delivery_id,
        endpoint_id,
        merchant_id,
        type: content.type,
        body,
        is_test,
        traceparent,
      });
    };

    if (event.type === WEBHOOK_TEST_REQUESTED) {
      const { data } = event as unknown as WebhookTestRequested;
      const lane = lanes.get(data.endpoint_id);
      if (lane && lane.status !== 'deleted') deliver(lane, data.delivery_id, testEvent(data), true);
      continue;
    }
    const content = published(event);
    if (content) {
      for (const lane of lanes.values()) {
        if (
          lane.merchant_id === content.merchantId &&
          lane.status === 'enabled' &&
          wants(lane, content.type)
        ) {
          deliver(lane, deriveId(event.id, lane.endpoint_id), content, false);
        }
      }
      continue;
    }
    const endpointEvent = event as unknown as WebhookEndpointEvent;
    const lane = evolveLane(lanes.get(endpointEvent.data.endpoint_id), endpointEvent, event.position);
    if (lane) {
      lanes.set(lane.endpoint_id, lane);
      changed.add(lane.endpoint_id);
    }
  }
  return { lanes: [...changed].map((id) => lanes.get(id)!), deliveries };
}

function wants(lane: Lane, type: string): boolean {
  return lane.event_types === null || lane.event_types.includes(type);
}

function testEvent(data: WebhookTestRequested['data']): PublishedEvent {
  return {
    type: 'webhook_endpoint.test',
    occurredAt: data.occurred_at,
    merchantId: data.merchant_id,
    data: JSON.stringify({ webhook_endpoint_id: data.endpoint_id, message: data.message }),
  };
}

async function insertDeliveries(rows: readonly DeliveryRow[], tx: PoolClient): Promise<void> {
  if (rows.length === 0) return;
  const column = <K extends keyof DeliveryRow>(name: K): DeliveryRow[K][] => rows.map((row) => row[name]);
  await tx.query(
    `insert into webhooks.deliveries (delivery_id, endpoint_id, merchant_id, type, body, is_test, traceparent)
     select * from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::bool[], $7::text[])
     on conflict (delivery_id) do nothing`,
    [
      column('delivery_id'),
      column('endpoint_id'),
      column('merchant_id'),
      column('type'),
      column('body'),
      column('is_test'),
      column('traceparent'),
    ],
  );
}

/** Deleting an endpoint drops what is still to be sent to it. What a sender holds, the sender drops. */
async function dropDeliveries(lanes: readonly Lane[], tx: PoolClient): Promise<void> {
  const deleted = lanes.filter((lane) => lane.status === 'deleted').map((lane) => lane.endpoint_id);
  if (deleted.length === 0) return;
  await tx.query(
    `update webhooks.deliveries set state = 'dropped', finished_at = clock_timestamp()
     where endpoint_id = any($1::uuid[]) and state = 'pending' and leased_by is null`,
    [deleted],
  );
}
