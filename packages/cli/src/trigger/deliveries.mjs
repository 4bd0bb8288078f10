// The deliveries of a triggered event to endpoints, with their responses.
import { setTimeout as sleep } from 'node:timers/promises';

const TIMEOUT_MS = 10_000;
const POLL_MS = 150;
/** The page size: others may trigger the same type at the same time. */
const PAGE = 20;

/**
 * Returns one `{id, url, status, http_status}` per endpoint that is subscribed to the type, after the first attempt or
 * {@link TIMEOUT_MS}. `status` is null for a delivery that did not exist by then.
 */
export async function deliveriesOf(merchant, type, { subject, deliveryId }) {
  const { data } = await merchant.webhookEndpoints.list();
  const subscribed = data.webhook_endpoints.filter(
    ({ id, status, event_types }) =>
      status === 'enabled' &&
      (deliveryId === undefined ? receives(event_types, type) : id === subject.webhook_endpoint_id),
  );
  const deadline = performance.now() + TIMEOUT_MS;
  return Promise.all(subscribed.map((endpoint) => attempted(endpoint, deadline)));

  async function attempted({ id: endpointId, url }, until) {
    let id = deliveryId ?? null;
    for (;;) {
      id ??= await find(endpointId);
      const delivery = id === null ? null : (await merchant.webhookDeliveries.get(id)).data.webhook_delivery;
      if (isAttempted(delivery) || performance.now() > until) {
        const http_status = delivery?.attempts.at(-1)?.http_status ?? null;
        return { id, url, status: delivery?.status ?? null, http_status };
      }
      await sleep(POLL_MS);
    }
  }

  async function find(endpointId) {
    const list = merchant.webhookDeliveries.list(endpointId, { type, page_size: PAGE });
    for await (const { data: page } of list.pages()) {
      for (const { id } of page.webhook_deliveries) {
        const { payload } = (await merchant.webhookDeliveries.get(id)).data.webhook_delivery;
        if (Object.entries(subject).every(([name, value]) => payload.data[name] === value)) return id;
      }
      return null;
    }
    return null;
  }
}

/** An endpoint without types receives all but those of orders, which have to be listed. */
function receives(eventTypes, type) {
  return eventTypes?.includes(type) ?? !type.startsWith('order.');
}

/** An attempt is recorded just before the delivery that it ends. */
function isAttempted(delivery) {
  if (delivery === null) return false;
  return delivery.status !== 'pending' || delivery.attempts.at(-1)?.outcome === 'failed';
}
