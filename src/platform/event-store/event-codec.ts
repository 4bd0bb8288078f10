import { Inject, Injectable } from '@nestjs/common';
import { PersonalKeys, type PersonalKey } from '../sealing/personal-keys.js';
import type { JsonObject, NewEvent, RecordedEvent } from './port.js';

/** The definition of an event type for the store, beyond its name. */
export interface EventTypeDefinition {
  /** Stored name with version: `user.created.v1`. */
  readonly type: string;
  /** Fields that are sealed in the store, with the key of the subject. */
  readonly sealed?: {
    readonly fields: readonly string[];
    /** Name of the field that holds the id of the person the fields are about. */
    readonly subject: string;
  };
  /** Converts data stored under this name into the data of `to`. */
  readonly upcast?: { readonly to: string; readonly with: (data: JsonObject) => JsonObject };
}

type Sealed = NonNullable<EventTypeDefinition['sealed']>;

/** Keys of persons, for one who reads no personal field and writes none. */
const NO_KEYS = { obtain: async () => null, find: async () => new Map<string, PersonalKey>() };

/**
 * Every event name that the service may store, and what is between the events of the domain and those of the store: seals
 * personal fields on the way in; opens them and upcasts old data on the way out. An unregistered name is an error when it
 * is appended; when it is read, it belongs to a newer version: folds leave it alone, decisions on it and subscriptions wait
 * (ADR 96).
 */
@Injectable()
export class EventCodec {
  private readonly definitions = new Map<string, EventTypeDefinition>();
  private readonly owners = new Map<string, string>();

  constructor(
    @Inject(PersonalKeys) private readonly personalKeys: Pick<PersonalKeys, 'obtain' | 'find'> = NO_KEYS,
  ) {}

  /** A name has one owner: a context, or the platform. */
  register(definitions: readonly EventTypeDefinition[], owner = 'platform'): this {
    for (const definition of definitions) {
      const { type } = definition;
      const before = this.owners.get(type);
      if (before !== undefined)
        throw new Error(`the event type ${type} has two owners: ${before} and ${owner}`);
      this.owners.set(type, owner);
      this.definitions.set(type, definition);
    }
    return this;
  }

  /** Checks whether this version knows the stored name. */
  knows(type: string): boolean {
    return this.definitions.has(type);
  }

  /** The name under which data stored as `type` is seen after all upcasts. */
  currentName(type: string): string {
    const to = this.definitions.get(type)?.upcast?.to;
    return to === undefined ? type : this.currentName(to);
  }

  /** The event in its newest form, with sealed fields as they are. */
  upcast(event: RecordedEvent): RecordedEvent {
    let upcast = this.definitions.get(event.type)?.upcast;
    if (upcast === undefined) return event;
    let { type, data } = event;
    for (; upcast !== undefined; upcast = this.definitions.get(type)?.upcast) {
      data = upcast.with(data);
      type = upcast.to;
    }
    return changed(event, type, data);
  }

  /** Checks whether any of the events has personal fields. */
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
        const key = await this.personalKeys.obtain(findSubject(sealed, event.data));
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

  /** Opens, unless sealed fields stay as they are stored, and upcasts. Fields of a forgotten person are null. */
  async decode(events: readonly RecordedEvent[], staysSealed = false): Promise<readonly RecordedEvent[]> {
    const opened = staysSealed ? events : await this.open(events);
    return opened.some(({ type }) => this.definitions.get(type)?.upcast)
      ? opened.map((event) => this.upcast(event))
      : opened;
  }

  /** Opens sealed fields of events, and of rows that keep these fields as they are in the event. */
  async open<E extends Pick<RecordedEvent, 'stream' | 'type' | 'data'>>(
    events: readonly E[],
  ): Promise<readonly E[]> {
    const subjects = events.flatMap(({ type, data }) => {
      const sealed = this.definitions.get(type)?.sealed;
      return sealed ? [findSubject(sealed, data)] : [];
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
    const sealed = this.definitions.get(type)?.sealed;
    if (!sealed) return event;
    const key = keys.get(findSubject(sealed, data));
    const opened = mapFields(sealed, data, (value, field) =>
      typeof value === 'string' && key ? JSON.parse(key.open(value, place(stream, type, field))) : null,
    );
    return changed(event, type, opened);
  }

  private known(type: string): EventTypeDefinition {
    const definition = this.definitions.get(type);
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

function findSubject(sealed: Sealed, data: JsonObject): string {
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
