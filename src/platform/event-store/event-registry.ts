import { Injectable } from '@nestjs/common';
import type { JsonObject } from './port.js';

/** What the store must know of an event type beyond its name. */
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

/**
 * Every event name the service may store. An unregistered name is an error when it is appended;
 * when it is read, it belongs to a newer version: folds leave it alone, decisions on it and subscriptions wait (ADR 96).
 */
@Injectable()
export class EventRegistry {
  private readonly definitions = new Map<string, EventTypeDefinition>();
  private readonly owners = new Map<string, string>();

  /** A name has one owner: a context, or the platform. */
  register(definitions: readonly EventTypeDefinition[], owner = 'platform'): void {
    for (const definition of definitions) {
      const { type } = definition;
      const before = this.owners.get(type);
      if (before !== undefined)
        throw new Error(`the event type ${type} has two owners: ${before} and ${owner}`);
      this.owners.set(type, owner);
      this.definitions.set(type, definition);
    }
  }

  find(type: string): EventTypeDefinition | undefined {
    return this.definitions.get(type);
  }

  /** The name under which data stored as `type` is seen after all upcasts. */
  currentName(type: string): string {
    let name = type;
    for (let upcast = this.find(name)?.upcast; upcast; upcast = this.find(name)?.upcast) name = upcast.to;
    return name;
  }

  /** Passes the newest form of an event to `convert`; an event that has it is returned as it is. */
  upcast<E extends { readonly type: string; readonly data: JsonObject }, O>(
    event: E,
    convert: (event: E, newest: { readonly type: string; readonly data: JsonObject }) => O,
  ): E | O {
    let upcast = this.find(event.type)?.upcast;
    if (upcast === undefined) return event;
    let { type, data } = event;
    for (; upcast !== undefined; upcast = this.find(type)?.upcast) {
      data = upcast.with(data);
      type = upcast.to;
    }
    return convert(event, { type, data });
  }
}
