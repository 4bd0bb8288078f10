import { comparePositions, type RecordedEvent } from '../../../platform/event-store/port.js';
import { subscriptionName, type SubscriptionDefinition } from '../../../platform/projections/projection.js';
import { deliveryId, receives } from '../endpoints/event-types.js';
import {
  evolveEndpoint,
  WEBHOOK_ENDPOINT_EVENTS,
  type WebhookEndpointEvent,
} from '../endpoints/webhook-endpoints.js';
import {
  REQUEST_HISTORIES,
  type WebhookRecoveryRequested,
  type WebhookResendRequested,
  type WebhookTestRequested,
} from '../recoveries/webhook-requests.js';
import { envelope, testEvent, type Published, type PublishedEvent } from './published-events.service.js';
import {
  dropDeliveries,
  insertDeliveries,
  insertRecoveries,
  loadEndpoints,
  resendDeliveries,
  saveEndpoints,
  type DeliveryRow,
  type EndpointRow,
  type ResendRow,
} from './saga-rows.store.js';
import type { NewDelivery } from '../endpoints/signing-secrets.store.js';

/** The subscription that maintains the rows of endpoints and deliveries. */
export const DELIVERIES_SAGA = subscriptionName('webhooks.deliveries');

type CreatedDelivery = Omit<DeliveryRow, 'mac'>;

type OwnEvent = RecordedEvent &
  (WebhookEndpointEvent | WebhookTestRequested | WebhookResendRequested | WebhookRecoveryRequested);

/**
 * Creates a delivery of each published event for each endpoint that received its type at that time. If the
 * endpoint was disabled, the delivery is stored as dropped (contract.md 13.8). Events apply in log order.
 */
export function deliveriesSaga(
  published: Published,
  wake: (endpointIds: readonly string[]) => void,
  toMac: (delivery: NewDelivery) => string,
): SubscriptionDefinition {
  let touched: readonly string[] = [];
  return {
    name: DELIVERIES_SAGA,
    events: sagaEvents(published),
    apply: async (events, tx) => {
      const before = await loadEndpoints(events, tx);
      const { endpoints, deliveries, resends, recoveries } = react(events, before, published);
      const rows = deliveries.map((each) => ({ ...each, mac: toMac(each) }));
      const deleted = endpoints.filter(({ status }) => status === 'deleted').map((each) => each.endpoint_id);
      await saveEndpoints(endpoints, tx);
      await insertDeliveries(rows, tx);
      await resendDeliveries(resends, tx);
      await dropDeliveries(deleted, tx);
      await insertRecoveries(recoveries, tx);
      const due = [...deliveries.filter((each) => each.state === 'pending'), ...resends];
      touched = [...new Set(due.map((each) => each.endpoint_id))];
    },
    afterCommit: () => wake(touched),
  };
}

export function sagaEvents(published: Published): readonly string[] {
  const requests = REQUEST_HISTORIES.flatMap(({ events }) => events);
  return [...WEBHOOK_ENDPOINT_EVENTS, ...published.events, ...requests];
}

/** Returns the row changes that result from the events, without side effects. */
export function react(
  events: readonly RecordedEvent[],
  before: readonly EndpointRow[],
  published: Published,
) {
  const endpoints = new Map(before.map((endpoint) => [endpoint.endpoint_id, endpoint]));
  const changed = new Set<string>();
  const deliveries: CreatedDelivery[] = [];
  const resends: ResendRow[] = [];
  const recoveries: WebhookRecoveryRequested['data'][] = [];
  for (const event of events) {
    const create = (
      { endpoint_id, merchant_id, status }: EndpointRow,
      delivery_id: string,
      content: PublishedEvent,
      is_test: boolean,
    ): void => {
      const state = is_test || status === 'enabled' ? 'pending' : 'dropped';
      const fixed = { delivery_id, endpoint_id, merchant_id, type: content.type, is_test, state } as const;
      const traceparent = event.metadata.traceparent ?? null;
      deliveries.push({ ...fixed, body: envelope(delivery_id, content), traceparent });
    };
    const contents = published.of(event);
    if (contents) {
      for (const content of contents)
        for (const endpoint of endpoints.values()) {
          const { endpoint_id, merchant_id, status } = endpoint;
          const isFor = merchant_id === content.merchantId && receives(endpoint, content.type);
          if (isFor && status !== 'deleted' && !isAhead(endpoint, event))
            create(endpoint, deliveryId(event.id, endpoint_id, content.type), content, false);
        }
      continue;
    }
    const own = event as OwnEvent;
    const endpoint = endpoints.get(own.data.endpoint_id);
    const status = endpoint && !isAhead(endpoint, event) ? endpoint.status : null;
    if (own.type === 'webhook_endpoint.test_requested.v1') {
      if (endpoint && status !== null && status !== 'deleted')
        create(endpoint, own.data.delivery_id, testEvent(own.data), true);
    } else if (own.type === 'webhook_delivery.resend_requested.v1') {
      const { delivery_id, endpoint_id, is_test } = own.data;
      if (status === 'enabled' || (status === 'disabled' && is_test)) {
        resends.push({ delivery_id, endpoint_id, position: event.position });
      }
    } else if (own.type === 'webhook_endpoint.recovery_requested.v1') {
      if (status === 'enabled') recoveries.push(own.data);
    } else {
      if (endpoint && comparePositions(endpoint.position, event.position) >= 0) continue;
      const after = evolveEndpoint(endpoint, own);
      if (!after || after === endpoint) continue;
      endpoints.set(after.endpoint_id, { ...after, position: event.position });
      changed.add(after.endpoint_id);
    }
  }
  return { endpoints: [...changed].map((id) => endpoints.get(id)!), deliveries, resends, recoveries };
}

/** Returns true if the endpoint's row includes a later event. The given `event` is then a repeat. */
function isAhead(endpoint: EndpointRow, event: RecordedEvent): boolean {
  return comparePositions(endpoint.position, event.position) > 0;
}
