import { DomainError } from '../../../kernel/domain-error.js';
import { faultOf, nestsWithin, PAYLOAD_MAX_DEPTH, type ValidItem } from './event-item.js';

/** The most items of a batch; more are 413 (contract.md 17.3). */
export const MAX_ITEMS = 1000;
/** The deepest nesting of a body: root, array and item stand around a payload. */
export const BODY_MAX_DEPTH = PAYLOAD_MAX_DEPTH + 3;

/** Why nothing of a batch is accepted: `bad_request` or `too_large`. */
export class RefusedBatch extends DomainError {
  constructor(
    code: 'bad_request' | 'too_large',
    message: string,
    /** The items of the batch, as far as it was read. */
    readonly items = 0,
  ) {
    super(code, message);
  }

  static tooMany(items: number): RefusedBatch {
    return new RefusedBatch('too_large', `A batch must hold at most ${MAX_ITEMS} events`, items);
  }
}

/**
 * How many items the parsed body of POST /merchants/v1/events holds, when all of them are valid. Throws {@link RefusedBatch}
 * `too_large` (413), or `bad_request` (400) whose message names the first item and field at fault: nothing of such a batch
 * is accepted (contract.md 17.3).
 */
export function itemsOf(body: unknown): number {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw malformed('The request body must be a JSON object');
  const events: unknown = (body as Readonly<Record<string, unknown>>)['events'];
  if (events === undefined || events === null) throw malformed('events is required');
  if (!Array.isArray(events)) throw malformed('events must be an array');
  if (events.length === 0) throw malformed('events must hold at least one event');
  if (events.length > MAX_ITEMS) throw RefusedBatch.tooMany(events.length);
  for (let i = 0; i < events.length; i += 1) {
    const fault = faultOf(events[i]);
    if (fault !== null) throw malformed(`events[${i}]${fault}`, events.length);
  }
  if (!nestsWithin(body, BODY_MAX_DEPTH))
    throw malformed(depthFault(events as readonly ValidItem[]), events.length);
  return events.length;
}

function depthFault(events: readonly ValidItem[]): string {
  const deep = events.findIndex(({ payload }) => !nestsWithin(payload, PAYLOAD_MAX_DEPTH));
  return deep === -1
    ? `The request body is nested deeper than ${BODY_MAX_DEPTH} levels`
    : `events[${deep}].payload must nest at most ${PAYLOAD_MAX_DEPTH} levels deep`;
}

function malformed(detail: string, items = 0): RefusedBatch {
  return new RefusedBatch('bad_request', detail, items);
}
