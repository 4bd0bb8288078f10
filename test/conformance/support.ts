import { deriveId, newId } from '../../src/kernel/ids.js';
import { followLog } from '../../src/platform/event-store/log-pages.js';
import {
  comparePositions,
  type CommitResult,
  type EventStore,
  type NewEvent,
  type RecordedEvent,
  type StreamAppend,
} from '../../src/platform/event-store/port.js';

/** The store under test: one instance for most tests, and further ones as other processes. */
export interface Subject {
  readonly store: EventStore;
  open(): EventStore;
}

export async function append(
  store: EventStore,
  stream: string,
  events: readonly NewEvent[],
  expected: StreamAppend['expected'],
): Promise<CommitResult> {
  return store.commit({ appends: [{ stream, events, expected }] });
}

export async function appendNumbered(
  store: EventStore,
  stream: string,
  count: number,
  more: NewEvent['data'] = {},
): Promise<void> {
  for (let n = 0; n < count; n += 1)
    await append(store, stream, [someEvent({ n, ...more })], n === 0 ? 'no_stream' : n - 1);
}

export const numbersOf = (events: readonly RecordedEvent[], stream: string): unknown[] =>
  events.filter((event) => event.stream === stream).map(({ data }) => data['n']);

export const freshStream = (): string => `conformance-${newId()}`;

export function someEvent(data: NewEvent['data'] = {}): NewEvent {
  return {
    id: newId(),
    // A type of every version, so that a service on the same log does not halt.
    type: 'claim.owner_abandoned.v1',
    data,
    metadata: { request_id: deriveId('request') },
  };
}

export function plain({ id, type, data, metadata, stream, revision }: RecordedEvent): object {
  return { id, type, data, metadata, stream, revision };
}

export const positionOf = (result: CommitResult): string | null =>
  result.outcome === 'committed' ? result.position : null;

export const isAscending = (positions: readonly string[]): boolean =>
  positions.every((position, n) => n === 0 || comparePositions(positions[n - 1]!, position) < 0);

/** Returns the first `count` events of a new subscription to a stream. */
export async function take(
  store: EventStore,
  after: string | null,
  stream: string,
  count: number,
): Promise<readonly RecordedEvent[]> {
  const found: RecordedEvent[] = [];
  for await (const events of followLog(store, after, new AbortController().signal)) {
    found.push(...events.filter((event) => event.stream === stream));
    if (found.length >= count) break;
  }
  return found.slice(0, count);
}
