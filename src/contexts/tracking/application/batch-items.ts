import { eachElement, eachMember, endOfValue, stringOf } from '../../../platform/json-text/json-text.js';
import { itemOf, type EventItem, type ValidItem } from '../domain/event-item.js';

/** An item of an accepted body. */
export interface ReadItem extends EventItem {
  /** JSON text, exactly as it was sent. */
  readonly payload: string;
}

/** The members of an item that count, and the null of a device_id. */
interface RawItem {
  event_id?: string | null;
  event_name?: string | null;
  event_datetime?: string | null;
  user_external_id?: string | null;
  device_id?: string | null;
  payload?: string;
}

const QUOTE = 0x22;

/**
 * The items of a body that was accepted, in order, in one pass: payloads are not parsed, and stay what was sent. Of
 * repeated keys the last one counts, as for JSON.parse. Of bodies that were not accepted it gives anything or throws.
 */
export function readItems(body: Buffer): ReadItem[] {
  const json = body.toString();
  let items: RawItem[] = [];
  eachMember(json, 0, (key, start) => {
    if (key !== 'events') return endOfValue(json, start);
    items = [];
    return eachElement(json, start, (at) => readItem(json, at, items));
  });
  return items.map((item) => Object.assign(itemOf(item as ValidItem & RawItem), { payload: item.payload! }));
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
        item[key] = json.charCodeAt(start) === QUOTE ? stringOf(json, start, end) : null;
    }
    return end;
  });
}
