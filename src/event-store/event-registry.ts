import type { JsonObject } from './port.js';

/** What the store must know of an event type beyond its name. */
export interface EventTypeDefinition {
  /** Stored name with version: `user.created.v1`. */
  readonly type: string;
  /** Fields that never stand in clear in the store; sealed with the key of the subject. */
  readonly sealed?: {
    readonly fields: readonly string[];
    /** Name of the field that holds the id of the person the fields are about. */
    readonly subject: string;
  };
  /** Turns data stored under this name into the data of `to`. */
  readonly upcast?: { readonly to: string; readonly with: (data: JsonObject) => JsonObject };
}
