import { createHash } from 'node:crypto';
import { DomainError } from '../../../../kernel/domain-error.js';
import { deriveId } from '../../../../kernel/ids.js';
import type { RecordedEvent } from '../../../../platform/event-store/port.js';
import type { AuditedDelivery } from '../../../webhooks/contract.js';
import { inUtc } from '../../domain/words.js';
import { idOf } from '../user-history.js';
import {
  causesOf,
  own,
  tell,
  type Explanation,
  type Row,
  type Section,
  type Sources,
} from './explanation.js';
import { attemptRow, endpointsOf } from './told-deliveries.js';

/** Of a response, as much as fits a line. */
const EXCERPT = 120;

/** A delivery from the event that it tells to each response of the receiver. Throws DomainError `not_found`. */
export async function explainDelivery(sources: Sources, id: string): Promise<Explanation> {
  const deliveryId = idOf('delivery', id);
  const [delivery] = await sources.deliveries.withIds([deliveryId]);
  if (delivery === undefined)
    throw new DomainError(
      'not_found',
      `No delivery ${deliveryId} is kept: it never was, or it is too long ago.`,
    );
  const { merchant_id: merchant, endpoint_id: endpoint, type, state } = delivery;
  const [urls, events] = await Promise.all([endpointsOf(sources, merchant), related(sources, delivery)]);
  const source = events.find((event) => isOf(event, delivery));
  return {
    what: `delivery ${deliveryId}`,
    figure: [
      [
        'tells',
        `${type}, ${state} after ${delivery.attempts} ${delivery.attempts === 1 ? 'attempt' : 'attempts'}`,
      ],
      [
        'to',
        `${urls.get(endpoint) ?? 'an address that no event tells'}, endpoint ${endpoint} of merchant ${merchant}`,
      ],
      [
        'event',
        source === undefined
          ? 'NOT FOUND: no event of its subject gives this id with this endpoint'
          : `at position ${source.position}: its id and the endpoint's give the delivery's`,
      ],
    ],
    ...(await tell(sources, causesOf(source, events).toReversed())),
    sections: [sent(delivery), await attemptsOf(sources, deliveryId)],
  };
}

/** Events of whatever the delivery is about. */
async function related({ log }: Sources, delivery: AuditedDelivery): Promise<readonly RecordedEvent[]> {
  if (delivery.is_test) return own(log, `webhook_test-${delivery.delivery_id}`);
  const { data = {} } = JSON.parse(delivery.body) as { data?: Record<string, unknown> };
  const streams = Object.entries(data).flatMap(([name, value]) => {
    const [, subject] = /^(\w+)_id$/.exec(name) ?? [];
    if (subject === undefined || typeof value !== 'string') return [];
    return subject === 'user' ? [`user-${value}`, `onboarding-${value}`] : [`${subject}-${value}`];
  });
  return (await Promise.all(streams.map((stream) => own(log, stream)))).flat();
}

function isOf({ id }: RecordedEvent, delivery: AuditedDelivery): boolean {
  return delivery.is_test || deriveId(id, delivery.endpoint_id) === delivery.delivery_id;
}

function sent({
  body,
  created_at: made,
  due_at: due,
  finished_at: end,
  resent_position: resent,
}: AuditedDelivery): Section {
  const rows: Row[] = [
    ['body', `${Buffer.byteLength(body)} bytes, SHA-256 ${createHash('sha256').update(body).digest('hex')}`],
    ['made', inUtc(made.toISOString())],
    end === null ? ['due', inUtc(due.toISOString())] : ['finished', inUtc(end.toISOString())],
  ];
  if (resent !== null) rows.push(['resent', `because of the event at position ${resent}`]);
  return { title: 'what is sent', rows };
}

async function attemptsOf({ deliveries }: Sources, deliveryId: string): Promise<Section> {
  const attempts = await deliveries.attempts([deliveryId]);
  const rows = attempts.flatMap((attempt): Row[] => {
    const response =
      attempt.response_excerpt === null ? '' : oneLine(attempt.response_excerpt.toString('utf8'));
    return [attemptRow(attempt), ...(response === '' ? [] : [['', `response: ${response}`] as const])];
  });
  return { title: 'attempts', rows: rows.length === 0 ? [['none', 'nothing was sent']] : rows };
}

/** A receiver may respond with anything, also with what moves the cursor of a terminal. */
function oneLine(text: string): string {
  const line = text.replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim();
  return line.length > EXCERPT ? `${line.slice(0, EXCERPT)}…` : line;
}
