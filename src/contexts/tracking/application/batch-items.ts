import { eachElement, eachMember, endOfValue, readString } from '../../../platform/json-text/json-text.js';
import { toItem, type BatchEvent, type TrackedItem, type ValidItem } from '../domain/event-batch.js';
import { Injectable } from '@nestjs/common';
import { Forgets, type ErasedPerson } from '../../../platform/operations/erasure.js';
import { failpoint } from '../../../platform/failpoints.js';
import { ErasedEvents } from '../store/erased-events.js';

/** A stored body that no acceptance could have written. */
export class UnreadableBatch extends Error {
  override readonly name = 'UnreadableBatch';
}

interface StoredBody {
  readonly body: Buffer;
  readonly item_count: number;
}

/** The members of an item; `payload` is JSON text, other values that are no strings are null. */
type RawItem = { -readonly [Name in keyof TrackedItem]?: string | null };

const QUOTE = 0x22;

/** The events of the batches in order; of repeated event_ids the first. Throws {@link UnreadableBatch}. */
export function distinctEvents(batches: readonly StoredBody[]): BatchEvent[] {
  const events = new Map<string, BatchEvent>();
  batches.forEach((stored, batch) =>
    storedItems(stored).forEach((read, item) => {
      if (!events.has(read.event_id)) events.set(read.event_id, Object.assign(read, { batch, item }));
    }),
  );
  return [...events.values()];
}

export function storedItems({ body, item_count }: StoredBody): TrackedItem[] {
  let items: TrackedItem[];
  try {
    items = readItems(body);
  } catch (error) {
    throw new UnreadableBatch((error as Error).message);
  }
  if (items.length === item_count) return items;
  throw new UnreadableBatch(`${items.length} items instead of ${item_count}`);
}

/**
 * The items of an accepted body. Payloads are not parsed. Of repeated keys the last one counts, as for JSON.parse. For
 * bodies that were not accepted the result is undefined.
 */
export function readItems(body: Buffer): TrackedItem[] {
  return readElements(body.toString(), readItem).map((item) =>
    toItem(item as Omit<ValidItem, 'payload'>, item.payload!),
  );
}

/**
 * A stored body in which the events of one person are blank but for their ids, so that they are not counted again.
 * `items` are the indexes of these events. Null when the body has none.
 */
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

/** No external_id and no event_name of a merchant is empty. */
function blank({ event_id, event_datetime }: TrackedItem): string {
  return JSON.stringify({ event_id, event_name: '', event_datetime, user_external_id: '', payload: {} });
}

/** Calls `read` for each element of the last `events`; it returns the end of the element. */
export function readElements<T>(json: string, read: (json: string, at: number, items: T[]) => number): T[] {
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

/**
 * Blanks the events of an erased person, by external_id, in the table of events and in stored bodies; only their ids
 * remain. Pending ones are not forwarded. Returns false until every batch from before the erasure is processed.
 */
@Injectable()
export class EventErasure {
  constructor(private readonly events: ErasedEvents) {}

  @Forgets('tracking')
  async forget({ merchantId, externalId, erasedAt }: ErasedPerson, signal: AbortSignal): Promise<boolean> {
    if (externalId === null) return true;
    if (await this.events.isBehind(merchantId, erasedAt)) return false;
    while (await this.events.blankSome(merchantId, externalId)) if (signal.aborted) return false;
    failpoint('erasure.events_blanked');
    for (const batchId of await this.events.batches(merchantId)) {
      if (signal.aborted) return false;
      const isRewritten = await this.events.rewrite(batchId, (body) => {
        try {
          return bodyWithout(body, externalId);
        } catch {
          // The error of a parser quotes the text, so it is not logged.
          throw new Error(`the body of batch ${batchId} cannot be read`);
        }
      });
      if (isRewritten) failpoint('erasure.batch_rewritten');
    }
    return true;
  }
}
