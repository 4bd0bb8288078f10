import { eachElement, eachMember, endOfValue, readString } from '../../../platform/json-text/json-text.js';
import { toItem, type BatchEvent, type TrackedItem, type ValidItem } from './event-batch.js';
import type { BatchRow } from './accepted-batches.store.js';

export class UnreadableBatch extends Error {
  override readonly name = 'UnreadableBatch';
}

type Body = Pick<BatchRow, 'body' | 'item_count'>;

/** The members of an item. `payload` is JSON text; other members are null unless they are strings. */
type RawItem = { -readonly [Name in keyof TrackedItem]?: string | null };

const QUOTE = 0x22;

/** Returns the first event per event_id, in order. Throws UnreadableBatch for an invalid body. */
export function distinctEvents(batches: readonly Body[]): BatchEvent[] {
  const events = new Map<string, BatchEvent>();
  batches.forEach((stored, batch) =>
    storedItems(stored).forEach((read, item) => {
      if (!events.has(read.event_id)) events.set(read.event_id, Object.assign(read, { batch, item }));
    }),
  );
  return [...events.values()];
}

export function storedItems({ body, item_count }: Body): TrackedItem[] {
  try {
    const items = readItems(body);
    if (items.length === item_count) return items;
    throw new Error(`the body has ${items.length} items, expected ${item_count}`);
  } catch (error) {
    throw new UnreadableBatch((error as Error).message);
  }
}

/** Returns the items with unparsed payloads. The last of repeated keys counts, as in JSON.parse. */
export function readItems(body: Buffer): TrackedItem[] {
  return readElements(body.toString(), readItem).map((item) =>
    toItem(item as Omit<ValidItem, 'payload'>, item.payload!),
  );
}

/** Blanks a person's events. Returns the new body and the indexes of these events, or null for no events. */
export function bodyWithout(
  body: Buffer,
  externalId: string,
): { readonly body: Buffer; readonly items: readonly number[] } | null {
  const read = readItems(body);
  const items = read.flatMap(({ user_external_id }, item) => (user_external_id === externalId ? [item] : []));
  if (items.length === 0) return null;
  const texts = readElements(body.toString(), (json, at, all: string[]) => {
    const end = endOfValue(json, at);
    all.push(json.slice(at, end));
    return end;
  });
  for (const item of items) texts[item] = blank(read[item]!);
  return { body: Buffer.from(`{"events":[${texts.join()}]}`), items };
}

/** Empties all but id and time, which identify repeats. No merchant can send an item with empty texts. */
function blank({ event_id, event_datetime }: TrackedItem): string {
  return JSON.stringify({ event_id, event_name: '', event_datetime, user_external_id: '', payload: {} });
}

/** Reads the last `events` array. `read` adds the element at `at` to `items` and returns its end index. */
function readElements<T>(json: string, read: (json: string, at: number, items: T[]) => number): T[] {
  let items: T[] = [];
  eachMember(json, 0, (key, start) => {
    if (key !== 'events') return endOfValue(json, start);
    items = [];
    return eachElement(json, start, (at) => read(json, at, items));
  });
  return items;
}

function readItem(json: string, at: number, items: RawItem[]): number {
  const item: RawItem = {};
  items.push(item);
  return eachMember(json, at, (key, start) => {
    const end = endOfValue(json, start);
    switch (key) {
      case 'payload':
        item.payload = json.slice(start, end);
        break;
      case 'event_id':
      case 'event_name':
      case 'event_datetime':
      case 'user_external_id':
      case 'device_id':
        item[key] = json.charCodeAt(start) === QUOTE ? readString(json, start, end) : null;
    }
    return end;
  });
}
