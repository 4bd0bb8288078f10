import { Field, Many, type FieldOptions } from '../../../platform/dto/field.js';
import { freeForm, text, UUID } from '../../../platform/dto/rules.js';
import { MAX_ITEMS } from '../domain/event-batch.js';

const shortText = (description: string, options: FieldOptions = {}): PropertyDecorator =>
  Field(text({ minLength: 1, maxLength: 255 }), { ...options, description });

class Event {
  @shortText('Trimmed; letter case does not count.')
  event_name!: string;

  @Field(freeForm, { description: 'Free-form; kept byte for byte. At most 32 levels deep.' })
  payload!: object;

  @Field(text(), {
    description:
      'When it happened: date and time of ISO 8601, seconds with up to nine decimals. UTC unless an offset says otherwise.',
    examples: ['2026-01-31T12:00:00Z', '2026-01-31T13:00:00.123456+01:00'],
  })
  event_datetime!: string;

  @Field(text(UUID), {
    description: 'UUID v4 in any letter case; every event counts once per event_id.',
  })
  event_id!: string;

  @shortText('external_id of the user, who need not exist yet. Trimmed.')
  user_external_id!: string;

  @shortText('Device id at the analytics provider.', { optional: true, nullable: true })
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
