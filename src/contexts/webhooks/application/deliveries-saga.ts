import { comparePositions, type RecordedEvent } from '../../../platform/event-store/port.js';
import { subscriptionName, type SubscriptionDefinition } from '../../../platform/projections/projection.js';
import { deriveId } from '../../../kernel/ids.js';
import { evolveLane } from '../domain/lane.js';
import { WEBHOOK_ENDPOINT_EVENTS, type WebhookEndpointEvent } from '../domain/webhook-endpoints.js';
import {
  WEBHOOK_RECOVERY_REQUESTED,
  WEBHOOK_RESEND_REQUESTED,
  WEBHOOK_TEST_REQUESTED,
  type WebhookRecoveryRequested,
  type WebhookResendRequested,
  type WebhookTestRequested,
} from '../domain/webhook-requests.js';
import {
  dropDeliveries,
  insertDeliveries,
  resendDeliveries,
  type DeliveryRow,
  type ResendRow,
} from '../store/delivery-rows.js';
import { lanesOf, saveLanes, type LaneRow } from '../store/lanes.js';
import { insertRecoveries, type RecoveryRow } from '../store/recoveries.js';
import type { NewDelivery } from './signing-secrets.js';
import { envelope, testEvent, type Published, type PublishedEvent } from './published-events.js';

export const DELIVERIES_SAGA = subscriptionName('webhooks.deliveries');

export type CreatedDelivery = Omit<DeliveryRow, 'mac'>;

interface Reaction {
  readonly lanes: readonly LaneRow[];
  readonly deliveries: readonly CreatedDelivery[];
  readonly resends: readonly ResendRow[];
  readonly recoveries: readonly RecoveryRow[];
}

/**
 * Turns events into deliveries: for each endpoint of the merchant that wants the type at that place in the stream, one
 * row whose id follows from event and endpoint. Endpoints change in the same stream, so their state is folded here too:
 * what happened while an endpoint was disabled is recorded as dropped, and never sent automatically (contract.md 13.8).
 * Requests to send again are carried out here as well, as of their place in the stream.
 */
export function deliveriesSaga(
  published: Published,
  wake: (endpointIds: readonly string[]) => void,
  macOf: (delivery: NewDelivery) => string,
): SubscriptionDefinition {
  let touched: readonly string[] = [];
  return {
    name: DELIVERIES_SAGA,
    events: sagaEvents(published),
    apply: async (events, tx) => {
      const { lanes, deliveries, resends, recoveries } = react(events, await lanesOf(events, tx), published);
      await saveLanes(lanes, tx);
      await insertDeliveries(
        deliveries.map((each) => ({ ...each, mac: macOf(each) })),
        tx,
      );
      await resendDeliveries(resends, tx);
      const deleted = lanes.filter((lane) => lane.status === 'deleted');
      await dropDeliveries(
        deleted.map((lane) => lane.endpoint_id),
        tx,
      );
      await insertRecoveries(recoveries, tx);
      const due = [...deliveries.filter((each) => each.state === 'pending'), ...resends];
      touched = [...new Set(due.map((each) => each.endpoint_id))];
    },
    afterCommit: () => wake(touched),
  };
}

/** Stored names of the events that say what is sent to whom. */
export function sagaEvents(published: Published): readonly string[] {
  return [
    ...WEBHOOK_ENDPOINT_EVENTS,
    ...published.events,
    WEBHOOK_TEST_REQUESTED,
    WEBHOOK_RESEND_REQUESTED,
    WEBHOOK_RECOVERY_REQUESTED,
  ];
}

/** Pure: what the events come to, in their order. */
export function react(
  events: readonly RecordedEvent[],
  before: readonly LaneRow[],
  published: Published,
): Reaction {
  const lanes = new Map(before.map((lane) => [lane.endpoint_id, lane]));
  const changed = new Set<string>();
  const deliveries: CreatedDelivery[] = [];
  const resends: ResendRow[] = [];
  const recoveries: RecoveryRow[] = [];
  for (const event of events) {
    const content = published.of(event);
    if (content) {
      for (const lane of lanes.values()) {
        if (lane.status === 'deleted' || !isFor(lane, content) || isAhead(lane, event)) continue;
        const row = rowOf(lane, deriveId(event.id, lane.endpoint_id), content, event);
        deliveries.push({ ...row, is_test: false, state: lane.status === 'enabled' ? 'pending' : 'dropped' });
      }
      continue;
    }
    const lane = lanes.get(event.data['endpoint_id'] as string);
    const status = lane && !isAhead(lane, event) ? lane.status : null;
    if (event.type === WEBHOOK_TEST_REQUESTED) {
      const { data } = event as unknown as WebhookTestRequested;
      if (!lane || status === null || status === 'deleted') continue;
      const row = rowOf(lane, data.delivery_id, testEvent(data), event);
      deliveries.push({ ...row, is_test: true, state: 'pending' });
    } else if (event.type === WEBHOOK_RESEND_REQUESTED) {
      const { delivery_id, endpoint_id, is_test } = (event as unknown as WebhookResendRequested).data;
      if (status === 'enabled' || (status === 'disabled' && is_test)) {
        resends.push({ delivery_id, endpoint_id, position: event.position });
      }
    } else if (event.type === WEBHOOK_RECOVERY_REQUESTED) {
      if (status === 'enabled') recoveries.push((event as unknown as WebhookRecoveryRequested).data);
    } else {
      if (lane && comparePositions(lane.position, event.position) >= 0) continue;
      const after = evolveLane(lane, event as unknown as WebhookEndpointEvent);
      if (!after || after === lane) continue;
      lanes.set(after.endpoint_id, { ...after, position: event.position });
      changed.add(after.endpoint_id);
    }
  }
  return { lanes: [...changed].map((id) => lanes.get(id)!), deliveries, resends, recoveries };
}

/** A lane ahead of an event means that the event was seen before. */
function isAhead(lane: LaneRow, event: RecordedEvent): boolean {
  return comparePositions(lane.position, event.position) > 0;
}

function rowOf(
  { endpoint_id, merchant_id }: LaneRow,
  delivery_id: string,
  content: PublishedEvent,
  event: RecordedEvent,
): Omit<CreatedDelivery, 'is_test' | 'state'> {
  const body = envelope(delivery_id, content);
  const traceparent = event.metadata.traceparent ?? null;
  return { delivery_id, endpoint_id, merchant_id, type: content.type, body, traceparent };
}

function isFor({ merchant_id, event_types }: LaneRow, { merchantId, type }: PublishedEvent): boolean {
  return merchant_id === merchantId && (event_types === null || event_types.includes(type));
}
