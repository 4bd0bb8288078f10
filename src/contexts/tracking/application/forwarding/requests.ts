import type { Analytics, AnalyticsEvent } from '../ports.js';
import type { PendingEvent } from './batch-in-hand.js';

/** Names, quotes and commas around the fields of an event. */
const AROUND = 200;
/** A character of a text takes no more bytes, in UTF-8 or escaped. */
const MOST_BYTES_OF_CHARACTER = 3;

/** Events in the order in which they came, in requests within the limits; an event that is too large goes alone. */
export function requestsOf(events: readonly PendingEvent[], limits: Analytics['limits']): PendingEvent[][] {
  const requests: PendingEvent[][] = [];
  let bytes = Infinity;
  for (const pending of events) {
    const size = mostBytes(pending.event);
    const last = requests.at(-1);
    if (last === undefined || bytes + size > limits.bytes || last.length >= limits.events) {
      requests.push([pending]);
      bytes = size;
    } else {
      last.push(pending);
      bytes += size;
    }
  }
  return requests;
}

/** Two halves, the first of them first. */
export function halvesOf(request: readonly PendingEvent[]): PendingEvent[][] {
  const middle = Math.ceil(request.length / 2);
  return [request.slice(0, middle), request.slice(middle)].filter((half) => half.length > 0);
}

/** What the event takes in a request at most. */
export function mostBytes({ userId, deviceId, eventType, payload }: AnalyticsEvent): number {
  const texts = userId.length + (deviceId?.length ?? 0) + eventType.length;
  return Buffer.byteLength(payload) + texts * MOST_BYTES_OF_CHARACTER + AROUND;
}
