import { textAt, type Field, type Row } from './fields.js';
import type { Filter } from './list.js';
import type { Tone } from './states.js';
import type { Action } from './write.js';

/** An explanation of a state and the next step, for people at 2 a.m. */
export interface Guidance {
  readonly tone: Tone;
  readonly title: string;
  readonly text: string;
}

/** A list that belongs to one object, from a path of the API or from the object itself. */
export interface Related {
  readonly title: string;
  readonly fields: readonly Field[];
  readonly empty: string;
  /** The path of the rows within the object. */
  readonly rows?: string;
  readonly from?: (row: Row) => { readonly path: string; readonly query?: Readonly<Record<string, string>> };
  readonly open?: (row: Row) => string | null;
  /** The page with all rows. */
  readonly all?: (row: Row) => string;
  readonly scope?: string;
}

/** Additional data of one object that may not exist yet. */
export interface Further {
  readonly title: string;
  readonly path: (row: Row) => string;
  readonly fields: readonly Field[];
  readonly none: string;
  /** The file name of its download. */
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
  /** Parameters of every read of the list. */
  readonly query?: Readonly<Record<string, string>>;
  /** The interval in ms at which the list is read again. */
  readonly every?: number;
  /** The filters of which the API requires one. Without any, the list is empty. */
  readonly needs?: readonly string[];
  /** A list that is displayed first while no filter is set. */
  readonly first?: Related;
  readonly create?: readonly Action[];
  /** Returns the target of a row; the row's own page when absent. */
  readonly open?: (row: Row) => string | null;
  /** Returns the heading of the page. The id replaces an empty one. */
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
  /** A row of another list that the page needs, stored under `as`. Null if the list lacks it. */
  readonly joins?: {
    readonly as: string;
    /** The member that contains its id. */
    readonly of: string;
    readonly scope: string;
    readonly from: (row: Row) => { readonly path: string; readonly query?: Readonly<Record<string, string>> };
  };
  /** Checks whether the page reads the object again every few seconds. */
  readonly polls?: (row: Row) => boolean;
  readonly guidance?: (row: Row, now: number) => Guidance | null;
  readonly actions?: readonly Action[];
  /** The label of the likely next action. The first one by default. */
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

/** Returns the page of the object whose id is the member `of` of a row. */
export const toPage =
  (name: string, of: string) =>
  (row: Row): string | null =>
    textAt(row, of) === '' ? null : pageOf(name, textAt(row, of));

export function pageOf(name: string, id: string): string {
  return `/${name}/${encodeURIComponent(id)}`;
}

/** Returns the API path of an action on a row, such as `/users/{id}/retry`. */
export const actionOn =
  (name: string, action = '') =>
  (row: Row): string =>
    pageOf(name, textAt(row, 'id')) + (action === '' ? '' : `/${action}`);

/** Returns the page of a filtered list. */
export const listOf =
  (name: string, filter: string, of = 'id') =>
  (row: Row): string | null =>
    textAt(row, of) === '' ? null : `/${name}?${filter}=${encodeURIComponent(textAt(row, of))}`;

export const ID: Field = { label: 'Id', of: 'id', as: 'id' };
export const CREATED: Field = { label: 'Created', of: 'created_at', as: 'time' };
