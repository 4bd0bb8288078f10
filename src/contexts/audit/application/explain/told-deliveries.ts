import { deriveId } from '../../../../kernel/ids.js';
import type { RecordedEvent } from '../../../../platform/event-store/port.js';
import { inUtc } from '../../domain/words.js';
import type { AuditedAttempt, AuditedDelivery } from '../../../webhooks/contract.js';
import type { Row, Section, Sources } from './explanation.js';

/** Addresses of a merchant's endpoints, by their ids, as the events tell them. */
export async function endpointsOf(
  { log }: Sources,
  merchantId: string,
): Promise<ReadonlyMap<string, string>> {
  const urls = new Map<string, string>();
  for (const { data } of await log.readStream(`webhook_endpoints-${merchantId}`))
    if (typeof data['url'] === 'string') urls.set(String(data['endpoint_id']), data['url']);
  return urls;
}

/** How the merchant was told of these events: the id of a delivery follows from its event and its endpoint. */
export async function toldTo(
  sources: Sources,
  merchantId: string,
  events: readonly RecordedEvent[],
): Promise<Section> {
  const title = 'told to the merchant';
  if (events.length === 0) return { title, rows: [['nothing', 'merchants hear of the outcome']] };
  const urls = await endpointsOf(sources, merchantId);
  const ids = events.flatMap(({ id }) => [...urls.keys()].map((endpoint) => deriveId(id, endpoint)));
  const deliveries = await sources.deliveries.withIds(ids);
  if (deliveries.length === 0)
    return { title, rows: [['deliveries', 'none is kept: no endpoint wanted it, or it is too long ago']] };
  const attempts = await sources.deliveries.attempts(deliveries.map(({ delivery_id: id }) => id));
  const rows = deliveries.flatMap((delivery) => [
    ...deliveryRows(delivery, urls.get(delivery.endpoint_id)),
    ...attempts.filter(({ delivery_id: id }) => id === delivery.delivery_id).map(attemptRow),
  ]);
  return { title, rows };
}

/** What a state means to the merchant. */
const STATES: Readonly<Record<string, string>> = {
  dropped: 'dropped, the endpoint was disabled or deleted',
  exhausted: 'exhausted, not tried again by itself',
};

function deliveryRows({ delivery_id: id, type, state }: AuditedDelivery, url = 'an endpoint'): Row[] {
  return [
    ['delivery', `${id}, ${type}: ${STATES[state] ?? state}`],
    ['to', url],
  ];
}

/** `attempt 1`: when, and what came back. */
export function attemptRow(attempt: AuditedAttempt): Row {
  const { started_at: at, duration_ms: took, http_status: status, failure_phase: phase, error } = attempt;
  const when = inUtc(at.toISOString());
  const response =
    status === null ? `no response (${phase ?? 'unknown'}: ${error ?? 'unknown'})` : `HTTP ${status}`;
  return [`attempt ${attempt.attempt}`, `${when}, ${attempt.outcome}, ${response} after ${took} ms`];
}
