import { Inject, Injectable } from '@nestjs/common';
import { PersonalKeys, type PersonalKey } from '../sealing/personal-keys.js';
import { EventRegistry, type EventTypeDefinition } from './event-registry.js';
import type { JsonObject, NewEvent, RecordedEvent } from './port.js';

type Sealed = NonNullable<EventTypeDefinition['sealed']>;

/**
 * Between the events of the domain and those of the store: seals personal fields on the way in; opens them and
 * upcasts old data on the way out. Types without sealed fields and upcasts pass through as they are.
 */
@Injectable()
export class EventCodec {
  constructor(
    private readonly registry: EventRegistry,
    @Inject(PersonalKeys) private readonly personalKeys: Pick<PersonalKeys, 'obtain' | 'find'>,
  ) {}

  /** Whether any of them holds personal fields. */
  seals(events: readonly { readonly type: string }[]): boolean {
    return events.some(({ type }) => this.known(type).sealed !== undefined);
  }

  /** Throws on a name that is not registered. Fields of a person who was forgotten are stored as null. */
  async encode(stream: string, events: readonly NewEvent[]): Promise<readonly NewEvent[]> {
    if (!this.seals(events)) return events;
    return Promise.all(
      events.map(async (event) => {
        const { sealed } = this.known(event.type);
        if (!sealed || !sealed.fields.some((field) => (event.data[field] ?? null) !== null)) return event;
        const key = await this.personalKeys.obtain(subjectOf(sealed, event.data));
        return {
          ...event,
          data: mapFields(sealed, event.data, (value, field) =>
            value === null || key === null
              ? null
              : key.seal(JSON.stringify(value), place(stream, event.type, field)),
          ),
        };
      }),
    );
  }

  /** Whether this version knows the stored name. */
  knows(type: string): boolean {
    return this.registry.find(type) !== undefined;
  }

  /** The name under which an event stored as `type` is seen. */
  currentName(type: string): string {
    return this.registry.currentName(type);
  }

  /** Opens, unless sealed fields stay as they are stored, and upcasts. Fields of a forgotten person are null. */
  async decode(events: readonly RecordedEvent[], staysSealed = false): Promise<readonly RecordedEvent[]> {
    const opened = staysSealed ? events : await this.open(events);
    if (!opened.some(({ type }) => this.registry.find(type)?.upcast)) return opened;
    return opened.map((event) =>
      this.registry.upcast(event, (_, { type, data }) => changed(event, type, data)),
    );
  }

  /** Opens sealed fields of events, and of rows that keep these fields as they are in the event. */
  async open<E extends Pick<RecordedEvent, 'stream' | 'type' | 'data'>>(
    events: readonly E[],
  ): Promise<readonly E[]> {
    const subjects = events.flatMap(({ type, data }) => {
      const sealed = this.registry.find(type)?.sealed;
      return sealed ? [subjectOf(sealed, data)] : [];
    });
    if (subjects.length === 0) return events;
    const keys = await this.personalKeys.find(subjects);
    return events.map((event) => this.openOne(event, keys));
  }

  private openOne<E extends Pick<RecordedEvent, 'stream' | 'type' | 'data'>>(
    event: E,
    keys: ReadonlyMap<string, PersonalKey>,
  ): E {
    const { stream, type, data } = event;
    const sealed = this.registry.find(type)?.sealed;
    if (!sealed) return event;
    const key = keys.get(subjectOf(sealed, data));
    const opened = mapFields(sealed, data, (value, field) =>
      typeof value === 'string' && key ? JSON.parse(key.open(value, place(stream, type, field))) : null,
    );
    return changed(event, type, opened);
  }

  private known(type: string): EventTypeDefinition {
    const definition = this.registry.find(type);
    if (!definition) throw new Error(`the event name ${type} is not registered`);
    return definition;
  }
}

/** A stored event parses its text lazily, by getters, which a spread alone would lose. */
function changed<E extends object>(event: E, type: string, data: JsonObject): E {
  const { metadata, recordedAt } = event as Partial<RecordedEvent>;
  return { ...event, ...(metadata && { metadata }), ...(recordedAt && { recordedAt }), type, data };
}

/** Ciphertext belongs to one field of one event type in one stream: moved elsewhere it does not open. */
function place(stream: string, type: string, field: string): string {
  return `event/${stream}/${type}/${field}`;
}

function subjectOf(sealed: Sealed, data: JsonObject): string {
  const subject = data[sealed.subject];
  if (typeof subject !== 'string') throw new Error(`the field ${sealed.subject} names no subject`);
  return subject;
}

function mapFields(
  sealed: Sealed,
  data: JsonObject,
  change: (value: JsonObject[string], field: string) => JsonObject[string],
): JsonObject {
  const changed: Record<string, JsonObject[string]> = { ...data };
  for (const field of sealed.fields) {
    const value = data[field];
    if (value !== undefined) changed[field] = change(value, field);
  }
  return changed;
}
