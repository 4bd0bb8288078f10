import { Inject, Injectable } from '@nestjs/common';
import { PersonalKeys, type PersonalKey } from '../sealing/personal-keys.js';
import type { JsonObject, NewEvent, RecordedEvent } from './port.js';

export interface EventTypeDefinition {
  /** The stored name with its version: `user.created.v1`. */
  readonly type: string;
  /** The fields that are encrypted with the key of the person. */
  readonly sealed?: {
    readonly fields: readonly string[];
    /** The name of the field with the person's id. */
    readonly subject: string;
  };
  readonly upcast?: { readonly to: string; readonly with: (data: JsonObject) => JsonObject };
}

type Sealed = NonNullable<EventTypeDefinition['sealed']>;

/** The keys of a codec that neither reads nor writes personal fields. */
const NO_KEYS = { obtain: async () => null, find: async () => new Map<string, PersonalKey>() };

/**
 * The registry of event types, which seals, opens and upcasts events. Unregistered types come from a newer
 * version: states omit them, decisions fail and subscriptions wait (ADR 96).
 */
@Injectable()
export class EventCodec {
  private readonly definitions = new Map<string, EventTypeDefinition & { readonly owner: string }>();

  constructor(
    @Inject(PersonalKeys) private readonly personalKeys: Pick<PersonalKeys, 'obtain' | 'find'> = NO_KEYS,
  ) {}

  register(definitions: readonly EventTypeDefinition[], owner = 'platform'): this {
    for (const definition of definitions) {
      const { type } = definition;
      const before = this.definitions.get(type)?.owner;
      if (before !== undefined)
        throw new Error(`the event type ${type} has two owners: ${before} and ${owner}`);
      this.definitions.set(type, { ...definition, owner });
    }
    return this;
  }

  knows(type: string): boolean {
    return this.definitions.has(type);
  }

  currentName(type: string): string {
    const to = this.definitions.get(type)?.upcast?.to;
    return to === undefined ? type : this.currentName(to);
  }

  /** Returns the event in its newest version; sealed fields remain sealed. */
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

  seals(events: readonly { readonly type: string }[]): boolean {
    return events.some(({ type }) => this.known(type).sealed !== undefined);
  }

  /** Seals personal fields. Fields of an erased person become null. Throws for an unregistered type. */
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

  /** Opens sealed fields, unless `staysSealed`, and upcasts. Fields of an erased person are null. */
  async decode(events: readonly RecordedEvent[], staysSealed = false): Promise<readonly RecordedEvent[]> {
    const opened = staysSealed ? events : await this.open(events);
    return opened.some(({ type }) => this.definitions.get(type)?.upcast)
      ? opened.map((event) => this.upcast(event))
      : opened;
  }

  /** Opens the sealed fields of events, or of rows that contain events. */
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

/** Returns the event with another type and other data. A spread alone would lose its lazy getters. */
function changed<E extends object>(event: E, type: string, data: JsonObject): E {
  const { metadata, recordedAt } = event as Partial<RecordedEvent>;
  return { ...event, ...(metadata && { metadata }), ...(recordedAt && { recordedAt }), type, data };
}

/** The associated data of a field: its ciphertext opens only for this stream, type and field. */
function place(stream: string, type: string, field: string): string {
  return `event/${stream}/${type}/${field}`;
}

function findSubject(sealed: Sealed, data: JsonObject): string {
  const subject = data[sealed.subject];
  if (typeof subject !== 'string') throw new Error(`the field ${sealed.subject} contains no person id`);
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
