import {
  comparePositions,
  type EventStore,
  type JsonObject,
  type RecordedEvent,
} from '../../../../platform/event-store/port.js';
import { bareName, inWords } from '../../domain/words.js';
import type { AuditedPayouts } from '../../../payouts/contract.js';
import type { AuditedDeliveries } from '../../../webhooks/contract.js';

/** What explanations are made of: the log, what no event tells (receipts, deliveries), and which fields of which types are sealed. */
export interface Sources {
  readonly log: Pick<EventStore, 'readStream' | 'readAll' | 'head'>;
  readonly payouts: AuditedPayouts;
  readonly deliveries: AuditedDeliveries;
  readonly sealed: ReadonlyMap<string, ReadonlySet<string>>;
}

/** Who or what wrote an event. */
export interface Cause {
  /** A route, a process of the service, or `operator`. */
  readonly actor: string;
  readonly request_id: string | null;
  readonly merchant_id: string | null;
  readonly key_id: string | null;
  readonly traceparent: string | null;
  /** The event or delivery that it follows from. */
  readonly causation_id: string | null;
  /** Of that event, where it is among those that are told. */
  readonly causing_position: string | null;
}

/** One event of an explanation. */
export interface ToldEvent {
  readonly position: string;
  readonly recorded_at: Date;
  readonly stream: string;
  readonly id: string;
  readonly type: string;
  /** In plain words, line by line. */
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
  /** The figure and what goes with it. */
  readonly figure: readonly Row[];
  /** In the order of the log. */
  readonly events: readonly ToldEvent[];
  readonly sections: readonly Section[];
  /** From the last event back to whoever set it off, by positions. */
  readonly chain: readonly string[];
  /** Names of merchants that the causes name. */
  readonly merchants: Readonly<Record<string, string>>;
}

/** Tells events with their causes. */
export async function tell(
  { log, sealed }: Sources,
  events: readonly RecordedEvent[],
): Promise<Pick<Explanation, 'events' | 'chain' | 'merchants'>> {
  const ordered = [...events].sort((a, b) => comparePositions(a.position, b.position));
  const byId = new Map(ordered.map((event) => [event.id, event]));
  const told = ordered.map((event): ToldEvent => {
    const { position, recordedAt: recorded_at, stream, id, type, data } = event;
    const says = inWords(type, data, sealed.get(type) ?? new Set());
    return { ...{ position, recorded_at, stream, id, type, says, data }, cause: causeOf(event, byId) };
  });
  return {
    events: told,
    chain: causesOf(events.at(-1), events).map(({ position }) => position),
    merchants: await namesOf(log, told),
  };
}

function causeOf({ metadata }: RecordedEvent, byId: ReadonlyMap<string, RecordedEvent>): Cause {
  const { actor, request_id, merchant_id, key_id, traceparent, causation_id } = metadata;
  return {
    actor: actor ?? 'not recorded',
    request_id: request_id ?? null,
    merchant_id: merchant_id ?? null,
    key_id: key_id ?? null,
    traceparent: traceparent ?? null,
    causation_id: causation_id ?? null,
    causing_position: byId.get(causation_id ?? '')?.position ?? null,
  };
}

/** An event and what caused it, as far as these events tell, from the last one back. */
export function causesOf(
  last: RecordedEvent | undefined,
  events: readonly RecordedEvent[],
): readonly RecordedEvent[] {
  const byId = new Map(events.map((event) => [event.id, event]));
  const causes = new Set<RecordedEvent>();
  for (let event = last; event && !causes.has(event); event = byId.get(event.metadata.causation_id ?? ''))
    causes.add(event);
  return [...causes];
}

async function namesOf(log: Sources['log'], events: readonly ToldEvent[]): Promise<Record<string, string>> {
  const ids = new Set(events.flatMap(({ cause: { merchant_id: id } }) => (id === null ? [] : [id])));
  const names: Record<string, string> = {};
  for (const id of ids) {
    const [first] = await log.readStream(`merchant-${id}`);
    if (typeof first?.data['name'] === 'string') names[id] = first.data['name'];
  }
  return names;
}

/** Those of the stream that are not marks of abandoned claims. */
export async function own(log: Sources['log'], stream: string): Promise<readonly RecordedEvent[]> {
  return (await log.readStream(stream)).filter(({ type }) => !type.startsWith('claim.'));
}

/** `received`, of `payout.received.v2`. */
export function lastWord({ type }: Pick<RecordedEvent, 'type'>): string {
  return bareName(type).split('.').at(-1)!.replaceAll('_', ' ');
}
