import { Fault } from '../../../kernel/fault.js';
import { Field, Many, type Rule, type Schema } from '../../../platform/dto/field.js';
import { freeForm, UUID } from '../../../platform/dto/rules.js';
import { MAX_ITEMS } from '../domain/event-batch.js';
import {
  datetimeFault,
  deviceFault,
  idFault,
  PAYLOAD_MAX_DEPTH,
  textFault,
  TEXT_MAX_LENGTH,
} from '../domain/event-item.js';

/** The rules of the domain, which the route itself asks item by item (`itemsOf`). */
const judged = (schema: Schema, faultOf: (value: unknown) => string | null): Rule => ({
  schema: { type: 'string', ...schema },
  read: (value) => {
    const fault = faultOf(value);
    return fault === null ? value : new Fault(fault);
  },
});
const SHORT = { minLength: 1, maxLength: TEXT_MAX_LENGTH };

class Event {
  @Field(judged(SHORT, textFault), { description: 'Trimmed; letter case does not count.' })
  event_name!: string;

  @Field(freeForm, {
    description: `Free-form; kept byte for byte. At most ${PAYLOAD_MAX_DEPTH} levels deep.`,
  })
  payload!: object;

  @Field(judged({}, datetimeFault), {
    description:
      'When it happened: date and time of ISO 8601, seconds with up to nine decimals. UTC unless an offset says otherwise.',
    examples: ['2026-01-31T12:00:00Z', '2026-01-31T13:00:00.123456+01:00'],
  })
  event_datetime!: string;

  @Field(judged(UUID, idFault), {
    description: 'UUID v4 in any letter case; every event counts once per event_id.',
  })
  event_id!: string;

  @Field(judged(SHORT, textFault), {
    description: 'external_id of the user, who need not exist yet. Trimmed.',
  })
  user_external_id!: string;

  @Field(judged(SHORT, deviceFault), {
    ...{ optional: true, nullable: true },
    description: 'Device id at the analytics provider.',
  })
  device_id?: string | null;
}

/** Body of POST /merchants/v1/events. Other fields are ignored. */
export class EventBatch {
  @Many(() => Event, {
    ...{ minItems: 1, maxItems: MAX_ITEMS },
    description: 'Other fields of an event are ignored.',
  })
  events!: Event[];
}
