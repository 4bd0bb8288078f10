import { parseJsonBody } from '../../platform/http/json-body.js';
import { itemsOf } from '../domain/event-batch.js';

/** How many items a body holds. Throws DomainError `bad_request` (400) or `too_large` (413). */
export function readBatch(bytes: Buffer): number {
  return itemsOf(bytes.length === 0 ? undefined : parseJsonBody(bytes));
}
