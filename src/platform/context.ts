import type { DynamicModule, Type } from '@nestjs/common';
import type { HistoryRules, LogRule } from '../kernel/history-rules.js';
import type { ProcessConfig } from './config/config.js';
import type { ConfigPart } from './config/settings.js';
import { CLAIM_EVENTS } from './event-store/claims.js';
import type { EventCodec, EventTypeDefinition } from './event-store/event-codec.js';
import type { JsonObject } from './event-store/port.js';
import type { DocumentPart, WebhookDescription } from './openapi/document.js';
import type { CliCommand } from './cli/cli-context.js';
import type { Migration } from './postgres/migrate.js';
import type { SealedTexts } from './sealing/key-rotation.js';
import type { Sealer } from './sealing/sealer.js';
import type { TableCheck } from './projections/table-check.js';
import type { SubscriptionDefinition } from './projections/projection.js';

export const CONTEXTS = Symbol('CONTEXTS');

/** The content of a webhook for a stored event. */
export interface WebhookContent {
  readonly occurredAt: string;
  /** The fields of `data`, in the order in which they are sent. */
  readonly fields: object;
  /** A member that is sent after the fields. Its value is JSON text. */
  readonly text?: readonly [name: string, json: string];
}

/** A type of the webhook catalog, and the function that reads its content from a stored event. */
export interface Publication extends WebhookDescription {
  /** Reads the content of a webhook; null where the event sends none. */
  readonly read: (data: JsonObject) => WebhookContent | null;
}

export function publication<Event extends { readonly data: object }>(
  description: WebhookDescription,
  read: (data: Event['data']) => WebhookContent | null,
): Publication {
  return { ...description, read: (data) => read(data) };
}

/** The CLI commands by program name; each is loaded when it is run. */
export type CliCommands = Readonly<Record<string, () => Promise<CliCommand>>>;

/** A snapshot of the database for a TableCheck of tables that are not read models. */
export interface CheckedTables<C extends object = ProcessConfig> {
  readonly query: <Row extends object>(sql: string, values: readonly unknown[]) => Promise<readonly Row[]>;
  /** The codec, which omits sealed fields. */
  readonly codec: EventCodec;
  readonly contexts: readonly Context[];
  readonly config: C;
  /** The sealer. Null without the MASTER_KEY; MACs are then not checked. */
  readonly sealer: Pick<Sealer, 'isAuthentic'> | null;
  /** The position of the checkpoint. The tables contain the effects of the events up to it. */
  readonly position: string | null;
}

/** The declaration of a context. The boot collects those of all contexts. */
export interface Context<C extends object = object> {
  /** The name of its folder and of its schema in the database. */
  readonly name: string;
  /** Returns the module; absent where a context has only programs. */
  module?(config: ProcessConfig): Type | DynamicModule;
  readonly config?: ConfigPart<C>;
  /** Checks its settings against those of other parts. Throws ConfigError. */
  checkSettings?(config: ProcessConfig): void;
  /** The stored names of its events, without those of its `histories`. A name belongs to one context. */
  readonly events?: readonly string[];
  /** Maps an event to its fields that are encrypted in the store. */
  readonly sealed?: Readonly<Record<string, EventTypeDefinition['sealed']>>;
  /** Maps an erasure event to the field with the id whose encryption key is then dropped. */
  readonly erases?: Readonly<Record<string, string>>;
  /** The sealed secrets in its tables; `npm run keys -- status` counts them. */
  readonly sealedTexts?: SealedTexts;
  /** The rules that an audit applies to each stream of its categories, event by event. */
  readonly histories?: readonly HistoryRules[];
  /** The rules that an audit applies across streams. Each function returns a fresh rule for one log. */
  readonly logRules?: readonly (() => LogRule)[];
  /** Maps an older event version to the function that converts its data to a newer one. */
  readonly upcasts?: Readonly<Record<string, EventTypeDefinition['upcast']>>;
  /** The read models of the context. Its sagas are providers of its module (`provideSaga`). */
  readonly readModels?: readonly SubscriptionDefinition[];
  /** The checks of the context's other tables against the events up to a checkpoint. */
  readonly checks?: readonly { readonly name: string; of(tables: CheckedTables): TableCheck }[];
  /** Maps an event to the webhooks that merchants receive for it. */
  readonly publishes?: Readonly<Record<string, Publication | readonly Publication[]>>;
  readonly programs?: CliCommands;
  /** The tags and the API of the context. The webhooks come from `publishes`. */
  readonly document?: DocumentPart;
  readonly migrations?: readonly Migration[];
}

/** Returns its argument. It exists to check the type. */
export function defineContext<C extends object>(context: Context<C>): Context<C> {
  return context;
}

export function knownEvents(contexts: readonly Context[]): readonly EventTypeDefinition[] {
  return [...CLAIM_EVENTS, ...contexts.flatMap(listEvents)];
}

export function listEvents({
  events = [],
  histories = [],
  sealed = {},
  upcasts = {},
}: Context): EventTypeDefinition[] {
  const own = [...events, ...histories.flatMap((history) => history.events)];
  const types = new Set([...own, ...Object.keys(sealed), ...Object.keys(upcasts)]);
  return [...types].map((type) => ({ type, sealed: sealed[type], upcast: upcasts[type] }));
}
