import { isUtf8 } from 'node:buffer';
import { parseDeepJsonBody } from '../../../platform/http/json-body.js';
import { itemsOf, MAX_ITEMS, RefusedBatch } from '../domain/event-batch.js';
import { scanItems } from '../domain/item-scan.js';
import { itemsForSure } from '../domain/quick-check.js';

const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/**
 * How many items the body of POST /merchants/v1/events holds, when all of it is valid. Throws DomainError `too_large`
 * (413) for more than 1000 items, before anything is parsed, and `bad_request` (400) whose message names the first fault
 * (contract.md 17.3).
 */
export function readBatch(bytes: Buffer): number {
  // Keys that a parsed body may not have (platform/http/json-body.ts) hold these letters.
  const items = isUtf8(bytes) && !bytes.includes('proto') ? itemsForSure(bytes) : 0;
  return items > 0 ? items : readWithFaults(bytes);
}

/** The same for any body, and what is wrong with it. */
export function readWithFaults(bytes: Buffer): number {
  const { tooMany, depth } = scanItems(bytes, MAX_ITEMS);
  if (tooMany)
    throw new RefusedBatch('too_large', `A batch must hold at most ${MAX_ITEMS} events`, MAX_ITEMS + 1);
  if (bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK))
    throw new RefusedBatch('bad_request', 'The request body must not begin with a byte order mark');
  return itemsOf(bytes.length === 0 ? undefined : parseDeepJsonBody(bytes), depth);
}
