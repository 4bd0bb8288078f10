import { DomainError } from '../../../kernel/domain-error.js';
import { isUuid } from '../../../kernel/ids.js';
import {
  comparePositions,
  type EventMetadata,
  type EventStore,
  type RecordedEvent,
} from '../../../platform/event-store/port.js';
import { ROW_CHANGES, type RowChange } from '../../../platform/postgres/row-changes.js';
import type { CheckedTables } from '../../../platform/context.js';
import {
  deliveryId,
  EVENT_TYPES,
  readDeliveries,
  type DeliveryRecord,
} from '../../webhooks/webhooks.contract.js';
import { eventLeaf, hashOfEvent, type EventLeaf } from '../ledger/event-leaf.js';
import { inclusionRanges, provesInclusion } from '../ledger/merkle-tree.js';
import { type SignedHead, toTree } from '../ledger/signed-head.js';
import type { Heads, SigningKeys } from '../ledger/heads.store.js';
import type { Ledger } from '../ledger/ledger.store.js';
import { HeadVerifier } from '../ledger/ledger-keys.commands.js';

interface Sources {
  readonly log: Pick<EventStore, 'readStream' | 'identity'>;
  readonly query: CheckedTables['query'];
  readonly ledger: Ledger;
  readonly heads: Heads;
  readonly keys: SigningKeys;
}

type Proof = 'proven' | 'NOT proven' | 'not signed yet';

interface EventStep extends EventLeaf {
  readonly metadata: EventMetadata;
  readonly leaf: { readonly hash: string; readonly index: number | null; readonly proof: Proof };
}

/** The explanation of one stream: its events, the events of its operations, and their deliveries. */
export interface Walk {
  readonly stream: string;
  readonly events: readonly EventStep[];
  /** The positions of the last event and its causes, back to the first cause. */
  readonly causes: readonly string[];
  readonly deliveries: readonly (DeliveryRecord & { readonly url: string | null })[];
  /** The rows outside the log that an operation changed. */
  readonly changed_rows: readonly RowChange[];
  /** The events that an operation names, but the log lacks. */
  readonly missing: readonly Change[];
  /** The newest signed head. `problem` is null when its signature is valid. */
  readonly head: (SignedHead & { readonly problem: string | null }) | null;
}

interface Change {
  readonly stream: string;
  readonly event_id: string;
}

export function requireId(what: string, id: string): string {
  if (!isUuid(id)) throw new DomainError('bad_request', `${id} is not a valid ${what} id: expected a UUID`);
  return id.toLowerCase();
}

/** Explains the stream `<kind>-<id>` or, for a delivery, the stream of its event. Throws `not_found`. */
export async function explain(sources: Sources, kind: string, id: string): Promise<Walk> {
  const subject = requireId(kind, id);
  const stream = kind === 'delivery' ? await findStream(sources, subject) : `${kind}-${subject}`;
  const own = await readEvents(sources, stream);
  if (own.length === 0) throw new DomainError('not_found', `The log contains no ${kind} ${subject}.`);
  const changes = own.flatMap(({ data }) => (data['changes'] ?? []) as unknown as readonly Change[]);
  const named = new Set(changes.map(({ event_id }) => event_id));
  const operations = own.flatMap(({ metadata: { operation_id: each } }) => each ?? []);
  const causing = operations.map((each) => `operation-${each}`).filter((each) => each !== stream);
  const [before, after] = await Promise.all([
    readStreams(sources, causing),
    readStreams(
      sources,
      changes.map(({ stream: each }) => each),
    ),
  ]);
  const changed = after.filter((event) => named.has(event.id));
  const events = [
    ...new Map([...before, ...own, ...changed].map((event) => [event.id, event])).values(),
  ].sort((a, b) => comparePositions(a.position, b.position));
  return {
    stream,
    causes: findCauses((changed.at(-1) ?? own.at(-1))!, events).map(({ position }) => position),
    deliveries: await findDeliveries(sources, subject, own),
    changed_rows: await sources.query<RowChange>(ROW_CHANGES, [subject]),
    missing: changes.filter(({ event_id }) => !changed.some((event) => event.id === event_id)),
    ...(await proveEvents(sources, events)),
  };
}

async function readEvents({ log }: Sources, stream: string): Promise<readonly RecordedEvent[]> {
  return (await log.readStream(stream)).filter(({ type }) => !type.startsWith('claim.'));
}

async function readStreams(sources: Sources, streams: readonly string[]): Promise<readonly RecordedEvent[]> {
  return (await Promise.all([...new Set(streams)].map((each) => readEvents(sources, each)))).flat();
}

/** Lists `last` and its causes: the event of `causation_id`, else the last earlier event of the operation. */
function findCauses(last: RecordedEvent, events: readonly RecordedEvent[]): readonly RecordedEvent[] {
  const causes = new Set<RecordedEvent>();
  let next: RecordedEvent | undefined = last;
  while (next !== undefined && !causes.has(next)) {
    const { position, metadata }: RecordedEvent = next;
    causes.add(next);
    next =
      events.find(({ id }) => id === metadata.causation_id) ??
      events.findLast(
        (each) =>
          each.stream === `operation-${metadata.operation_id}` &&
          comparePositions(each.position, position) < 0,
      );
  }
  return [...causes];
}

/** Finds the stream of a delivery's event. Event id, endpoint and type determine the delivery's id. */
async function findStream(sources: Sources, id: string): Promise<string> {
  const [delivery] = await readDeliveries(sources.query, [id]);
  const missing = `No delivery ${id} is kept: it never existed, or its retention is over.`;
  if (delivery === undefined) throw new DomainError('not_found', missing);
  if (delivery.is_test) return `webhook_test-${id}`;
  const { data = {} } = JSON.parse(delivery.body) as { data?: Record<string, unknown> };
  const streams = Object.entries(data).flatMap(([name, value]) => {
    const kind = /^(\w+)_id$/.exec(name)?.[1];
    return kind === undefined
      ? []
      : [kind, ...(kind === 'user' ? ['onboarding'] : [])].map((each) => `${each}-${String(value)}`);
  });
  const source = (await readStreams(sources, streams)).find(
    (event) => deliveryId(event.id, delivery.endpoint_id, delivery.type) === id,
  );
  if (source === undefined)
    throw new DomainError('not_found', `No event of the log matches the id of delivery ${id}.`);
  return source.stream;
}

async function findDeliveries(
  { log, query }: Sources,
  subject: string,
  events: readonly RecordedEvent[],
): Promise<Walk['deliveries']> {
  const merchant = events
    .map(({ data, metadata }) => data['merchant_id'] ?? metadata.merchant_id)
    .find(Boolean);
  const endpoints = await log.readStream(`webhook_endpoints-${String(merchant)}`);
  const urls = new Map(
    endpoints.flatMap(({ data: { endpoint_id: id, url } }) =>
      typeof id === 'string' && typeof url === 'string' ? [[id, url]] : [],
    ),
  );
  const ids = events.flatMap(({ id }) =>
    [...urls.keys()].flatMap((endpoint) => EVENT_TYPES.map((type) => deliveryId(id, endpoint, type))),
  );
  const found = await readDeliveries(query, [subject, ...ids]);
  return found.map((delivery) => ({ ...delivery, url: urls.get(delivery.endpoint_id) ?? null }));
}

async function proveEvents(
  { log, ledger, heads, keys }: Sources,
  events: readonly RecordedEvent[],
): Promise<Pick<Walk, 'events' | 'head'>> {
  const head = await heads.newest();
  const problem = head && new HeadVerifier(await log.identity(), await keys.all(), null, null).verify(head);
  const indexes = await ledger.indexes(events.map(({ position }) => position));
  const prove = async (hash: Buffer, index: number | null): Promise<Proof> => {
    if (head === null || index === null || index >= head.size) return 'not signed yet';
    const path = await ledger.path(inclusionRanges(index, head.size));
    return problem === null && provesInclusion({ hash, index }, toTree(head), path) ? 'proven' : 'NOT proven';
  };
  const steps = events.map(async (event, place): Promise<EventStep> => {
    const [hash, index] = [hashOfEvent(event), indexes[place] ?? null];
    const leaf = { hash: hash.toString('hex'), index, proof: await prove(hash, index) };
    return { ...eventLeaf(event), metadata: event.metadata, leaf };
  });
  return { events: await Promise.all(steps), head: head && { ...head, problem } };
}
