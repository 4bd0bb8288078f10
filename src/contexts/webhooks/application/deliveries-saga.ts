import { comparePositions, type RecordedEvent } from '../../../platform/event-store/port.js';
import type { SubscriptionDefinition } from '../../../platform/projections/projection.js';
import { deliveryId } from '../domain/delivery-id.js';
import { evolveSnapshot } from '../domain/endpoint-snapshot.js';
import { receives, WEBHOOK_ENDPOINT_EVENTS, type WebhookEndpointEvent } from '../domain/webhook-endpoints.js';
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
import {
  DELIVERIES_SAGA,
  endpointSnapshotsOf,
  saveEndpointSnapshots,
  type EndpointSnapshotRow,
} from '../store/endpoint-snapshots.js';
import { insertRecoveries, type RecoveryRow } from '../store/recoveries.js';
import type { NewDelivery } from './signing-secrets.js';
import { envelope, testEvent, type Published, type PublishedEvent } from './published-events.js';

export { DELIVERIES_SAGA };

export type CreatedDelivery = Omit<DeliveryRow, 'mac'>;

type OwnEvent = RecordedEvent &
  (WebhookEndpointEvent | WebhookTestRequested | WebhookResendRequested | WebhookRecoveryRequested);

interface Reaction {
  readonly snapshots: readonly EndpointSnapshotRow[];
  readonly deliveries: readonly CreatedDelivery[];
  readonly resends: readonly ResendRow[];
  readonly recoveries: readonly RecoveryRow[];
}

/**
 * Turns events into deliveries: for each endpoint that subscribes to the type at that place in the stream, one row whose
 * id follows from event, endpoint and type. Endpoints change in the same stream, so their state is folded here too:
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
      const { snapshots, deliveries, resends, recoveries } = react(
        events,
        await endpointSnapshotsOf(events, tx),
        published,
      );
      await saveEndpointSnapshots(snapshots, tx);
      await insertDeliveries(
        deliveries.map((each) => ({ ...each, mac: macOf(each) })),
        tx,
      );
      await resendDeliveries(resends, tx);
      const deleted = snapshots.filter((snapshot) => snapshot.status === 'deleted');
      await dropDeliveries(
        deleted.map((snapshot) => snapshot.endpoint_id),
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
  before: readonly EndpointSnapshotRow[],
  published: Published,
): Reaction {
  const snapshots = new Map(before.map((snapshot) => [snapshot.endpoint_id, snapshot]));
  const changed = new Set<string>();
  const deliveries: CreatedDelivery[] = [];
  const resends: ResendRow[] = [];
  const recoveries: RecoveryRow[] = [];
  for (const event of events) {
    const contents = published.of(event);
    if (contents) {
      for (const content of contents)
        for (const snapshot of snapshots.values()) {
          if (snapshot.status === 'deleted' || !isFor(snapshot, content) || isAhead(snapshot, event))
            continue;
          const id = deliveryId(event.id, snapshot.endpoint_id, content.type);
          const state = snapshot.status === 'enabled' ? 'pending' : 'dropped';
          deliveries.push({ ...rowOf(snapshot, id, content, event), is_test: false, state });
        }
      continue;
    }
    const own = event as OwnEvent;
    const snapshot = snapshots.get(own.data.endpoint_id);
    const status = snapshot && !isAhead(snapshot, event) ? snapshot.status : null;
    if (own.type === WEBHOOK_TEST_REQUESTED) {
      if (!snapshot || status === null || status === 'deleted') continue;
      const row = rowOf(snapshot, own.data.delivery_id, testEvent(own.data), event);
      deliveries.push({ ...row, is_test: true, state: 'pending' });
    } else if (own.type === WEBHOOK_RESEND_REQUESTED) {
      const { delivery_id, endpoint_id, is_test } = own.data;
      if (status === 'enabled' || (status === 'disabled' && is_test)) {
        resends.push({ delivery_id, endpoint_id, position: event.position });
      }
    } else if (own.type === WEBHOOK_RECOVERY_REQUESTED) {
      if (status === 'enabled') recoveries.push(own.data);
    } else {
      if (snapshot && comparePositions(snapshot.position, event.position) >= 0) continue;
      const after = evolveSnapshot(snapshot, own);
      if (!after || after === snapshot) continue;
      snapshots.set(after.endpoint_id, { ...after, position: event.position });
      changed.add(after.endpoint_id);
    }
  }
  return { snapshots: [...changed].map((id) => snapshots.get(id)!), deliveries, resends, recoveries };
}

/** A snapshot ahead of an event means that the event was seen before. */
function isAhead(snapshot: EndpointSnapshotRow, event: RecordedEvent): boolean {
  return comparePositions(snapshot.position, event.position) > 0;
}

function rowOf(
  { endpoint_id, merchant_id }: EndpointSnapshotRow,
  delivery_id: string,
  content: PublishedEvent,
  event: RecordedEvent,
): Omit<CreatedDelivery, 'is_test' | 'state'> {
  const body = envelope(delivery_id, content);
  const traceparent = event.metadata.traceparent ?? null;
  return { delivery_id, endpoint_id, merchant_id, type: content.type, body, traceparent };
}

function isFor(
  { merchant_id, event_types }: EndpointSnapshotRow,
  { merchantId, type }: PublishedEvent,
): boolean {
  return merchant_id === merchantId && receives(event_types, type);
}
