import { DomainError } from '../../kernel/domain-error.js';
import { faultOf } from './event-item.js';

/** The most items of a batch; more are 413 (merchant-api section 8). */
export const MAX_ITEMS = 1000;

/**
 * How many items the parsed body of POST /merchants/v1/events holds, when all of them are valid. Throws DomainError
 * `bad_request` (400) whose message names the first item and field at fault: nothing of such a batch is accepted
 * (merchant-api section 4.3).
 */
export function itemsOf(body: unknown): number {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw malformed('The request body must be a JSON object');
  const events: unknown = (body as Readonly<Record<string, unknown>>)['events'];
  if (events === undefined || events === null) throw malformed('events is required');
  if (!Array.isArray(events)) throw malformed('events must be an array');
  if (events.length === 0) throw malformed('events must hold at least one event');
  for (let i = 0; i < events.length; i += 1) {
    const fault = faultOf(events[i]);
    if (fault !== null) throw malformed(`events[${i}]${fault}`);
  }
  return events.length;
}

function malformed(detail: string): DomainError {
  return new DomainError('bad_request', detail);
}
