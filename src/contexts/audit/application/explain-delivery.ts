import { createHash } from 'node:crypto';
import { DomainError } from '../../../kernel/domain-error.js';
import type { RecordedEvent } from '../../../platform/event-store/port.js';
import {
  deliveryId,
  describeState,
  EVENT_TYPES,
  type AuditedAttempt,
  type AuditedDelivery,
} from '../../webhooks/contract.js';
import {
  causesOf,
  eventsOfStream,
  inUtc,
  withCauses,
  type Explanation,
  type Row,
  type Section,
  type Sources,
} from './causes.js';
import { requireId } from './user-history.js';

/** Characters of a response that fit a line. */
const MAX_EXCERPT = 120;

/** A delivery from its event to each response of the receiver. Throws DomainError `not_found`. */
export async function explainDelivery(sources: Sources, id: string): Promise<Explanation> {
  const requested = requireId('delivery', id);
  const [delivery] = await sources.deliveries.withIds([requested]);
  if (delivery === undefined)
    throw new DomainError(
      'not_found',
      `No delivery ${requested} is kept: it never existed, or its retention is over.`,
    );
  const { merchant_id: merchant, endpoint_id: endpoint, type, state, attempts } = delivery;
  const [urls, events] = await Promise.all([urlsOf(sources, merchant), eventsOfSubject(sources, delivery)]);
  const source = events.find(
    (event) => delivery.is_test || deliveryId(event.id, endpoint, type) === delivery.delivery_id,
  );
  return {
    what: `delivery ${requested}`,
    figure: [
      ['type', `${type}, ${state} after ${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}`],
      ['to', `${urls.get(endpoint) ?? 'an unknown address'}, endpoint ${endpoint} of merchant ${merchant}`],
      [
        'event',
        source === undefined
          ? 'NOT FOUND: no event of its subject gives this id with this endpoint'
          : `at position ${source.position}: its id and the endpoint's give the delivery's`,
      ],
    ],
    ...(await withCauses(sources, causesOf(source, events).toReversed())),
    sections: [sent(delivery), await attemptsOf(sources, requested)],
  };
}

/** The deliveries of these events: their ids follow from event, endpoint and type. */
export async function deliveriesOf(
  sources: Sources,
  merchantId: string,
  events: readonly RecordedEvent[],
): Promise<Section> {
  const title = 'deliveries to the merchant';
  if (events.length === 0) return { title, rows: [['none', 'merchants are notified of the outcome']] };
  const urls = await urlsOf(sources, merchantId);
  const ids = events.flatMap(({ id }) =>
    [...urls.keys()].flatMap((endpoint) => EVENT_TYPES.map((type) => deliveryId(id, endpoint, type))),
  );
  const deliveries = await sources.deliveries.withIds(ids);
  if (deliveries.length === 0)
    return {
      title,
      rows: [['none', 'none is kept: no endpoint subscribed to the type, or the retention is over']],
    };
  const attempts = await sources.deliveries.attempts(deliveries.map(({ delivery_id: id }) => id));
  const rows = deliveries.flatMap(({ delivery_id: id, endpoint_id: endpoint, type, state }): Row[] => [
    ['delivery', `${id}, ${type}: ${describeState(state)}`],
    ['to', urls.get(endpoint) ?? 'an endpoint'],
    ...attempts.filter((attempt) => attempt.delivery_id === id).map(attemptRow),
  ]);
  return { title, rows };
}

/** Addresses of a merchant's endpoints, by their ids, from the events. */
async function urlsOf({ log }: Sources, merchantId: string): Promise<ReadonlyMap<string, string>> {
  const urls = new Map<string, string>();
  for (const { data } of await log.readStream(`webhook_endpoints-${merchantId}`))
    if (typeof data['url'] === 'string') urls.set(String(data['endpoint_id']), data['url']);
  return urls;
}

async function eventsOfSubject(
  { log }: Sources,
  delivery: AuditedDelivery,
): Promise<readonly RecordedEvent[]> {
  if (delivery.is_test) return eventsOfStream(log, `webhook_test-${delivery.delivery_id}`);
  const { data = {} } = JSON.parse(delivery.body) as { data?: Record<string, unknown> };
  const streams = Object.entries(data).flatMap(([name, value]) => {
    const [, subject] = /^(\w+)_id$/.exec(name) ?? [];
    if (subject === undefined || typeof value !== 'string') return [];
    return subject === 'user' ? [`user-${value}`, `onboarding-${value}`] : [`${subject}-${value}`];
  });
  return (await Promise.all(streams.map((stream) => eventsOfStream(log, stream)))).flat();
}

function sent({
  body,
  created_at,
  due_at,
  finished_at: end,
  resent_position: resent,
}: AuditedDelivery): Section {
  const rows: Row[] = [
    ['body', `${Buffer.byteLength(body)} bytes, SHA-256 ${createHash('sha256').update(body).digest('hex')}`],
    ['created', inUtc(created_at.toISOString())],
    end === null ? ['due', inUtc(due_at.toISOString())] : ['finished', inUtc(end.toISOString())],
  ];
  if (resent !== null) rows.push(['resent', `because of the event at position ${resent}`]);
  return { title: 'request', rows };
}

async function attemptsOf({ deliveries }: Sources, deliveryId: string): Promise<Section> {
  const rows = (await deliveries.attempts([deliveryId])).flatMap((attempt): Row[] => {
    const excerpt = attempt.response_excerpt
      ?.toString('utf8')
      .replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
      .trim();
    if (!excerpt) return [attemptRow(attempt)];
    const text = excerpt.length > MAX_EXCERPT ? `${excerpt.slice(0, MAX_EXCERPT)}…` : excerpt;
    return [attemptRow(attempt), ['', `response: ${text}`]];
  });
  return { title: 'attempts', rows: rows.length === 0 ? [['none', 'nothing was sent']] : rows };
}

function attemptRow(attempt: AuditedAttempt): Row {
  const { started_at: at, duration_ms: ms, http_status: status, failure_phase: phase, error } = attempt;
  const response =
    status === null ? `no response (${phase ?? 'unknown'}: ${error ?? 'unknown'})` : `HTTP ${status}`;
  const when = inUtc(at.toISOString());
  return [`attempt ${attempt.attempt}`, `${when}, ${attempt.outcome}, ${response} after ${ms} ms`];
}
