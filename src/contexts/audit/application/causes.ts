import {
  comparePositions,
  type EventStore,
  type JsonObject,
  type RecordedEvent,
} from '../../../platform/event-store/port.js';
import type { RequestedOperation } from '../../operations/contract.js';
import type { AuditedPayouts, Figures } from '../../payouts/contract.js';
import type { AuditedDeliveries } from '../../webhooks/contract.js';

/** The log; what is not recorded as events (receipts, deliveries); and by type the fields that are sealed. */
export interface Sources {
  readonly log: Pick<EventStore, 'readStream' | 'readAll' | 'head'>;
  readonly payouts: AuditedPayouts;
  readonly deliveries: AuditedDeliveries;
  readonly sealed: ReadonlyMap<string, ReadonlySet<string>>;
}

/** Who or what wrote an event. */
interface Cause {
  /** A route, a process of the service, or `operator`. */
  readonly actor: string;
  readonly request_id: string | null;
  readonly merchant_id: string | null;
  readonly key_id: string | null;
  readonly traceparent: string | null;
  /** The event or delivery that it follows from. */
  readonly causation_id: string | null;
  /** Of the operation of an operator that wrote it. */
  readonly operation_id: string | null;
  /** Of that event, where it is one of the explained events. */
  readonly causing_position: string | null;
}

export interface ExplainedEvent {
  readonly position: string;
  readonly recorded_at: Date;
  readonly stream: string;
  readonly id: string;
  readonly type: string;
  /** Its fields as text, line by line. */
  readonly says: readonly string[];
  /** As it is stored: sealed fields stay sealed. */
  readonly data: JsonObject;
  readonly cause: Cause;
}

export type Row = readonly [label: string, text: string];
export interface Section {
  readonly title: string;
  readonly rows: readonly Row[];
}

export interface Explanation {
  /** `payout 456e8407-…`. */
  readonly what: string;
  /** The figure and its details. */
  readonly figure: readonly Row[];
  /** In the order of the log. */
  readonly events: readonly ExplainedEvent[];
  readonly sections: readonly Section[];
  /** Positions from the last event back to its first cause. */
  readonly chain: readonly string[];
  /** Who requested the operations of the causes, and why, by id. */
  readonly operations: Readonly<Record<string, string>>;
  /** Names of the merchants of the causes, by id. */
  readonly merchants: Readonly<Record<string, string>>;
}

/** A balance, and its figures after each of the events. */
export interface ExplainedBalance extends Explanation {
  readonly after: readonly Figures[];
}

/** The one walk of causes: explains events, and follows the last of them back to its first cause. */
export async function withCauses(
  { log, sealed }: Sources,
  events: readonly RecordedEvent[],
): Promise<Pick<Explanation, 'events' | 'chain' | 'merchants' | 'operations'>> {
  const ordered = [...events].sort((a, b) => comparePositions(a.position, b.position));
  const positions = new Map(ordered.map(({ id, position }) => [id, position]));
  const explained = ordered.map((event): ExplainedEvent => {
    const { position, recordedAt: recorded_at, stream, id, type, data, metadata } = event;
    const { actor, request_id, merchant_id, key_id, traceparent, causation_id, operation_id } = metadata;
    return {
      position,
      recorded_at,
      stream,
      id,
      type,
      says: fieldsOf(data, sealed.get(type)),
      data,
      cause: {
        actor: actor ?? 'not recorded',
        request_id: request_id ?? null,
        merchant_id: merchant_id ?? null,
        key_id: key_id ?? null,
        traceparent: traceparent ?? null,
        causation_id: causation_id ?? null,
        operation_id: operation_id ?? null,
        causing_position: positions.get(causation_id ?? '') ?? null,
      },
    };
  });
  const merchants: Record<string, string> = {};
  for (const id of new Set(explained.flatMap(({ cause: { merchant_id: each } }) => each ?? []))) {
    const [first] = await log.readStream(`merchant-${id}`);
    if (typeof first?.data['name'] === 'string') merchants[id] = first.data['name'];
  }
  return {
    events: explained,
    chain: causesOf(events.at(-1), events).map(({ position }) => position),
    merchants,
    operations: await operationsOf(log, explained),
  };
}

/** `users.erase by Ada (administrator): requested by the user`. */
async function operationsOf(
  log: Sources['log'],
  events: readonly ExplainedEvent[],
): Promise<Record<string, string>> {
  const operations: Record<string, string> = {};
  for (const id of new Set(events.flatMap(({ cause: { operation_id: each } }) => each ?? []))) {
    const [first] = await eventsOfStream(log, `operation-${id}`);
    const { name, reason, requested_by: by } = (first?.data ?? {}) as Partial<RequestedOperation>;
    const person =
      by === undefined ? 'NOT in the log' : `${name} by ${by.name} (${by.role ?? 'no person'}): ${reason}`;
    operations[id] = person;
  }
  return operations;
}

/** An event and its causes among `events`, from the last one back. */
export function causesOf(
  last: RecordedEvent | undefined,
  events: readonly RecordedEvent[],
): readonly RecordedEvent[] {
  const byId = new Map(events.map((event) => [event.id, event]));
  const causeOf = (event: RecordedEvent): RecordedEvent | undefined =>
    byId.get(event.metadata.causation_id ?? '') ?? operationBefore(event, events);
  const causes = new Set<RecordedEvent>();
  for (let event = last; event && !causes.has(event); event = causeOf(event)) causes.add(event);
  return [...causes];
}

/** What an operation wrote follows from its approval, or from its request. */
function operationBefore(event: RecordedEvent, events: readonly RecordedEvent[]): RecordedEvent | undefined {
  const { operation_id: id } = event.metadata;
  if (id === undefined) return undefined;
  return events.findLast(
    ({ stream, position }) => stream === `operation-${id}` && comparePositions(position, event.position) < 0,
  );
}

/** Without marks of abandoned claims. */
export async function eventsOfStream(log: Sources['log'], stream: string): Promise<readonly RecordedEvent[]> {
  return (await log.readStream(stream)).filter(({ type }) => !type.startsWith('claim.'));
}

/** Fields that repeat the line above them. */
const REPEATED = new Set(['merchant_id', 'user_id', 'payout_id', 'order_id', 'endpoint_id', 'at']);
const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$/;

function fieldsOf(data: JsonObject, sealed: ReadonlySet<string> = new Set()): readonly string[] {
  return Object.entries(data)
    .filter(([name, value]) => !REPEATED.has(name) && value !== null)
    .map(([name, value]) => {
      const text = typeof value === 'string' ? value.trim() : JSON.stringify(value);
      return `${name.replaceAll('_', ' ')} ${sealed.has(name) ? '(sealed)' : INSTANT.test(text) ? inUtc(text) : text}`;
    });
}

/** `payout.received`: a stored name without its version. */
export function bareName(type: string): string {
  return type.replace(/\.v\d+$/, '');
}

/** `2026-01-31 12:00:00.123`, of a time in ISO 8601 in UTC. */
export function inUtc(iso: string): string {
  return iso.replace('T', ' ').replace('Z', '');
}
