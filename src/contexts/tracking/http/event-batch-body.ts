import { parseDeepJsonBody } from '../../../platform/http/json-body.js';
import { eachElement, eachMember, endOfValue } from '../../../platform/json-text/json-text.js';
import { Fault } from '../../../kernel/fault.js';
import { Field, Many, type Rule, type Schema } from '../../../platform/dto/field.js';
import { freeForm, UUID } from '../../../platform/dto/rules.js';
import {
  itemsOf,
  MAX_ITEMS,
  RefusedBatch,
  datetimeFault,
  deviceFault,
  externalIdFault,
  idFault,
  PAYLOAD_MAX_DEPTH,
  textFault,
  TEXT_MAX_LENGTH,
} from '../domain/event-batch.js';

export function readBatch(bytes: Buffer): number {
  let body: unknown;
  try {
    body = bytes.length === 0 ? undefined : parseDeepJsonBody(bytes);
  } catch (error) {
    // Too many items are 413 even where the body is no JSON.
    if (holdsTooMany(bytes.toString())) throw RefusedBatch.tooMany(MAX_ITEMS + 1);
    throw error;
  }
  return itemsOf(body);
}

/** Whether text that cannot be parsed has too many items, as far as it can be read. */
function holdsTooMany(json: string): boolean {
  let count = 0;
  try {
    eachMember(json, 0, (key, start) => {
      if (key !== 'events') return endOfValue(json, start);
      let items = 0;
      const end = eachElement(json, start, (at) => {
        items += 1;
        return endOfValue(json, at);
      });
      count = Math.max(count, items);
      return end;
    });
  } catch {
    // A malformed escape in a key: the rest is not counted.
  }
  return count > MAX_ITEMS;
}

/** The rules of the domain; the route checks each item itself (`itemsOf`). */
const checked = (schema: Schema, faultOf: (value: unknown) => string | null): Rule => ({
  schema: { type: 'string', ...schema },
  read: (value) => {
    const fault = faultOf(value);
    return fault === null ? value : new Fault(fault);
  },
});
const SHORT = { minLength: 1, maxLength: TEXT_MAX_LENGTH };

class Event {
  @Field(checked(SHORT, textFault), { description: 'Trimmed; letter case does not count.' })
  event_name!: string;

  @Field(freeForm, {
    description: `Free-form; kept byte for byte. At most ${PAYLOAD_MAX_DEPTH} levels deep.`,
  })
  payload!: object;

  @Field(checked({}, datetimeFault), {
    description:
      'When it happened: date and time of ISO 8601, seconds with up to nine decimals. UTC unless an offset says otherwise.',
    examples: ['2026-01-31T12:00:00Z', '2026-01-31T13:00:00.123456+01:00'],
  })
  event_datetime!: string;

  @Field(checked(UUID, idFault), {
    description: 'UUID v4 in any letter case; every event counts once per event_id.',
  })
  event_id!: string;

  @Field(checked(SHORT, externalIdFault), {
    description: 'external_id of the user, who need not exist yet. Trimmed.',
  })
  user_external_id!: string;

  @Field(checked(SHORT, deviceFault), {
    optional: true,
    nullable: true,
    description: 'Device id at the analytics provider.',
  })
  device_id?: string | null;
}

/** Body of POST /merchants/v1/events. Other fields are ignored. */
export class EventBatch {
  @Many(() => Event, {
    minItems: 1,
    maxItems: MAX_ITEMS,
    description: 'Other fields of an event are ignored.',
  })
  events!: Event[];
}
