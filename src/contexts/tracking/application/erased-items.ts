import { eachElement, eachMember, endOfValue } from '../../../platform/json-text/json-text.js';
import type { ReadItem } from '../domain/event-item.js';
import { readItems } from './batch-items.js';

/** What stands in place of the name and of the event's name. No external_id and no event is called so by a merchant. */
export const ERASED = '';

/**
 * A stored body without the events of one person: in their places stand their ids alone, so that they are not counted
 * once more, and of all else only the other events. `items` are the places. Null when it has no event of the person.
 */
export function bodyWithout(
  body: Buffer,
  externalId: string,
): { readonly body: Buffer; readonly items: readonly number[] } | null {
  const read = readItems(body);
  const items = read.flatMap(({ userExternalId }, item) => (userExternalId === externalId ? [item] : []));
  if (items.length === 0) return null;
  const texts = itemTexts(body.toString());
  for (const item of items) texts[item] = blank(read[item]!);
  return { body: Buffer.from(`{"events":[${texts.join()}]}`), items };
}

/** The texts of the items that {@link readItems} reads. */
function itemTexts(json: string): string[] {
  let texts: string[] = [];
  eachMember(json, 0, (key, start) => {
    if (key !== 'events') return endOfValue(json, start);
    texts = [];
    return eachElement(json, start, (at) => {
      const end = endOfValue(json, at);
      texts.push(json.slice(at, end));
      return end;
    });
  });
  return texts;
}

function blank({ eventId, eventDatetime }: ReadItem): string {
  return JSON.stringify({
    ...{ event_id: eventId, event_name: ERASED, event_datetime: eventDatetime, user_external_id: ERASED },
    payload: {},
  });
}
