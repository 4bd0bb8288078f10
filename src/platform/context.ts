import type { DynamicModule, InjectionToken, Type } from '@nestjs/common';
import type { HistoryRules, LogRule } from '../kernel/history-rules.js';
import type { Config, SettingsOwner } from './config/config.js';
import { CLAIM_EVENTS } from './event-store/claims.js';
import type { EventCodec } from './event-store/event-codec.js';
import type { EventTypeDefinition } from './event-store/event-registry.js';
import type { JsonObject } from './event-store/port.js';
import type { DocumentPart, WebhookWords } from './openapi/document.js';
import type { Program } from './operator/operator.js';
import type { Migration } from './postgres/migrate.js';
import type { SealedTexts } from './sealing/key-rotation.js';
import type { TableCheck } from './projections/table-check.js';
import type { DerivedTables, SubscriptionDefinition } from './projections/projection.js';

/** Nest injection token of every {@link Context}. */
export const CONTEXTS = Symbol('CONTEXTS');

/** Those of them whose modules run in this process. */
export const RUNNING_CONTEXTS = Symbol('RUNNING_CONTEXTS');

/** A provider of the running service. */
export type Get = <T>(token: InjectionToken<T>) => T;

/** What endpoints of merchants receive for a stored event. */
export interface Announced {
  readonly occurredAt: string;
  /** Of `data`, in the order in which they are sent. */
  readonly fields: object;
  /** A member that follows them, and is JSON text already. */
  readonly text?: readonly [name: string, json: string];
}

/** A type of the catalog of webhooks, and how it is read out of the data of a stored event. */
export interface Publication extends WebhookWords {
  readonly read: (data: JsonObject) => Announced;
}

/** `data` is the class of what is sent, `when` the sentence that the document says of it. */
export function publication<Event extends { readonly data: object }>(
  words: WebhookWords,
  read: (data: Event['data']) => Announced,
): Publication {
  return { ...words, read: (data) => read(data) };
}

/** Programs of operators, by name; loaded on demand. */
export type Programs = Readonly<Record<string, () => Promise<Program>>>;

/** Tables that are no read model, in one snapshot of the database, and the events that an audit compares them with. */
export interface CheckedTables {
  readonly query: <Row extends object>(sql: string, values: readonly unknown[]) => Promise<readonly Row[]>;
  /** Leaves sealed fields out. */
  readonly codec: EventCodec;
  readonly contexts: readonly Context[];
  readonly config: Config;
  /** Of the checkpoint: the tables follow from the events up to there. */
  readonly position: string | null;
}

/** Who is to be forgotten. */
export interface Forgotten {
  readonly userId: string;
  readonly merchantId: string;
  /** The merchant's own name for the person. */
  readonly externalId: string | null;
  /** When the user was created and erased, ISO 8601. */
  readonly createdAt: string;
  readonly erasedAt: string;
}

/**
 * Drops what a context keeps of a person. It may be killed anywhere and is called again, also after it was done. False:
 * some of it has to wait, and it is called again later.
 */
export type Forget = (person: Forgotten, signal: AbortSignal) => Promise<boolean>;

/** What a context declares: once, here. Events, migrations and programs are collected from all contexts. */
export interface Context extends SettingsOwner {
  /** That of its folder, and of its schema in the database. */
  readonly name: string;
  /** Absent for one that has only programs. */
  readonly module?: (config: Config) => Type | DynamicModule;
  /** Stored names of its events; a name belongs to one context. */
  readonly events?: readonly string[];
  /** By stored name: fields that are never in clear in the store. */
  readonly sealed?: Readonly<Record<string, EventTypeDefinition['sealed']>>;
  /** Secrets in its tables that keys of the ring have sealed: `npm run keys -- status` counts them. */
  readonly sealedTexts?: SealedTexts;
  /** Rules for the streams of its categories, event by event. */
  readonly histories?: readonly HistoryRules[];
  /** Rules for a whole log, across streams; each starts afresh with a log. */
  readonly logRules?: readonly (() => LogRule)[];
  /** By stored name of an older version: how its data becomes that of a newer one. */
  readonly upcasts?: Readonly<Record<string, EventTypeDefinition['upcast']>>;
  /** Its read models; process managers are providers of its module (`provideSaga`). */
  readonly readModels?: readonly SubscriptionDefinition[];
  /** Tables of its process managers that follow from the events alone: an audit rebuilds them like read models. */
  readonly derived?: readonly DerivedTables[];
  /** What an audit compares of its other tables with the events up to a checkpoint. */
  readonly checks?: readonly { readonly name: string; of(tables: CheckedTables): TableCheck }[];
  /** What programs of operators boot of it: all of it, but for the module that is given here. Absent: nothing. */
  readonly operator?: Pick<Context, 'module'>;
  /** How it forgets a person who is erased (ADR 127); absent: it keeps nothing of persons. */
  readonly forgets?: (get: Get) => Forget;
  /** By stored name: what endpoints of merchants receive for its events. */
  readonly publishes?: Readonly<Record<string, Publication>>;
  readonly programs?: Programs;
  /** Its tags and its API in the OpenAPI document; what it `publishes` is there anyway. */
  readonly document?: DocumentPart;
  readonly migrations?: readonly Migration[];
}

/** Checks the type of a declaration and nothing else. */
export function defineContext(context: Context): Context {
  return context;
}

/** Contexts as programs of operators need them. */
export function forOperators(contexts: readonly Context[]): readonly Context[] {
  return contexts.filter(({ operator }) => operator).map((context) => ({ ...context, ...context.operator }));
}

/** Every event that a version with these contexts knows. */
export function knownEvents(contexts: readonly Context[]): readonly EventTypeDefinition[] {
  return [...CLAIM_EVENTS, ...contexts.flatMap(eventsOf)];
}

export function knownTypes(contexts: readonly Context[]): ReadonlySet<string> {
  return new Set(knownEvents(contexts).map(({ type }) => type));
}

/** Its events as the store must know them. */
export function eventsOf({ events = [], sealed = {}, upcasts = {} }: Context): EventTypeDefinition[] {
  const types = new Set([...events, ...Object.keys(sealed), ...Object.keys(upcasts)]);
  return [...types].map((type) => ({ type, sealed: sealed[type], upcast: upcasts[type] }));
}
