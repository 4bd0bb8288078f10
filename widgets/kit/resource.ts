import { textAt, type Field, type Row } from './fields.js';
import type { Filter } from './list.js';
import type { Tone } from './states.js';
import type { Action } from './write.js';

/** The meaning of a state and the next step, for people at 2 a.m. */
export interface Guidance {
  readonly tone: Tone;
  readonly title: string;
  readonly text: string;
}

/** A list that belongs to one thing: read from a path of the API, or part of what was read. */
export interface Related {
  readonly title: string;
  readonly fields: readonly Field[];
  readonly empty: string;
  /** A path in the row. */
  readonly rows?: string;
  readonly from?: (row: Row) => { readonly path: string; readonly query?: Readonly<Record<string, string>> };
  readonly open?: (row: Row) => string | null;
  /** The page with all of them. */
  readonly all?: (row: Row) => string;
  readonly scope?: string;
}

/** Something else that the API says of one thing, which may not exist (yet). */
export interface Further {
  readonly title: string;
  readonly path: (row: Row) => string;
  readonly fields: readonly Field[];
  readonly none: string;
  /** The name of the file in which a person may take it along. */
  readonly file?: string;
  readonly when?: (row: Row) => boolean;
}

/** A collection of the API: its list, details and changes. */
export interface Resource {
  /** The name in the address of the page and of the API. */
  readonly name: string;
  readonly title: string;
  readonly one: string;
  readonly scope: string;
  readonly lead?: string;
  readonly fields: readonly Field[];
  readonly filters?: readonly Filter[];
  readonly empty: string;
  /** Sent with every read of the list. */
  readonly query?: Readonly<Record<string, string>>;
  /** The interval in ms at which the list is read again. */
  readonly every?: number;
  /** Filters of which the API requires one; nothing is listed without. */
  readonly needs?: readonly string[];
  /** The list that precedes this one while no filter is set. */
  readonly first?: Related;
  readonly create?: readonly Action[];
  /** Returns the target of a row; the row's own page when absent. */
  readonly open?: (row: Row) => string | null;
  /** The heading of the page; the id where it is empty. */
  readonly heading?: string | ((row: Row) => string);
  readonly status?: string | ((row: Row) => string);
  readonly details?: readonly Field[];
  readonly read?: (id: string) => {
    readonly path: string;
    /** The query of a list that contains the object. */
    readonly query?: Readonly<Record<string, string>>;
    /** The member of that list's rows that holds the id; `id` when absent. */
    readonly of?: string;
  };
  /** A row of another list that its page needs: in the row under `as`; null where the list lacks it. */
  readonly joins?: {
    readonly as: string;
    /** The member that has its id. */
    readonly of: string;
    readonly scope: string;
    readonly from: (row: Row) => { readonly path: string; readonly query?: Readonly<Record<string, string>> };
  };
  /** Checks whether the page reads the object again every few seconds. */
  readonly polls?: (row: Row) => boolean;
  readonly guidance?: (row: Row, now: number) => Guidance | null;
  readonly actions?: readonly Action[];
  /** The label of the action that is likely next; the first one without it. */
  readonly primary?: (row: Row) => string | null;
  readonly links?: readonly Linked[];
  readonly related?: readonly Related[];
  readonly further?: readonly Further[];
}

export interface Linked {
  readonly label: string;
  readonly href: (row: Row) => string;
  readonly scope: string;
}

/** The page of what a member of a row names. */
export const toPage =
  (name: string, of: string) =>
  (row: Row): string | null =>
    textAt(row, of) === '' ? null : pageOf(name, textAt(row, of));

export function pageOf(name: string, id: string): string {
  return `/${name}/${encodeURIComponent(id)}`;
}

/** The path of the API for an action on a row: `/users/{id}/retry`. */
export const actionOn =
  (name: string, action = '') =>
  (row: Row): string =>
    pageOf(name, textAt(row, 'id')) + (action === '' ? '' : `/${action}`);

/** The page of a list with a filter. */
export const listOf =
  (name: string, filter: string, of = 'id') =>
  (row: Row): string | null =>
    textAt(row, of) === '' ? null : `/${name}?${filter}=${encodeURIComponent(textAt(row, of))}`;

export const ID: Field = { label: 'Id', of: 'id', as: 'id' };
export const CREATED: Field = { label: 'Created', of: 'created_at', as: 'time' };
