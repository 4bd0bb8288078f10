import { parseDeepJsonBody } from '../../../platform/http/json-body.js';
import { eachElement, eachMember, endOfValue } from '../../../platform/json-text/json-text.js';
import { itemsOf, MAX_ITEMS, RefusedBatch } from '../domain/event-batch.js';

const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/**
 * How many items the body of POST /merchants/v1/events holds, when all of it is valid. Throws DomainError `too_large`
 * (413) for more than 1000 items, and `bad_request` (400) whose message names the first fault (contract.md 17.3).
 */
export function readBatch(bytes: Buffer): number {
  let body: unknown;
  try {
    if (bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK))
      throw new RefusedBatch('bad_request', 'The request body must not begin with a byte order mark');
    body = bytes.length === 0 ? undefined : parseDeepJsonBody(bytes);
  } catch (error) {
    // Too many items are 413 even where the body is no JSON.
    if (holdsTooMany(bytes.toString())) throw RefusedBatch.tooMany(MAX_ITEMS + 1);
    throw error;
  }
  return itemsOf(body);
}

/** Whether text that cannot be parsed has more items than a batch may hold, as far as it can be told. */
function holdsTooMany(json: string): boolean {
  let most = 0;
  try {
    eachMember(json, 0, (key, start) => {
      if (key !== 'events') return endOfValue(json, start);
      let items = 0;
      const end = eachElement(json, start, (at) => {
        items += 1;
        return endOfValue(json, at);
      });
      most = Math.max(most, items);
      return end;
    });
  } catch {
    // A malformed escape in a key: what follows is not looked at.
  }
  return most > MAX_ITEMS;
}
