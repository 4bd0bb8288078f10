import type { CreatedPage, PagePlace } from '../postgres/list-page.js';
import { Fault } from '../../kernel/fault.js';
import { Field, type Dto, type Rule } from '../dto/field.js';
import { day, digits, text } from '../dto/rules.js';
import { decodeCursor, decodeExactCursor } from '../postgres/page-cursor.js';

/** The most items a page may have (contract.md 6). */
export const MAX_PAGE = 1000;

/** A day that a list begins or ends with. */
export const Day = (description: string): PropertyDecorator => Field(day, { optional: true, description });

export const PageSize = (fallback: number, description: string): PropertyDecorator =>
  Field(digits(1, MAX_PAGE), { optional: true, default: fallback, description });

const cursorField = <P>(decode: (text: string) => P | null): PropertyDecorator =>
  Field(
    text({}, (value) => decode(value) ?? new Fault('must be the next_cursor of an earlier response')),
    { optional: true, description: 'The next_cursor of the page before.' },
  );

/** The place in the `next_cursor` of an earlier response. */
export const PageCursor = (): PropertyDecorator => cursorField(decodeCursor);
/** As {@link PageCursor}, in a list whose places are exact to the microsecond. */
export const ExactPageCursor = (): PropertyDecorator => cursorField(decodeExactCursor);

/** A filter of a list: it may be left out. */
export const Filter = (rule: Rule, description: string): PropertyDecorator =>
  Field(rule, { optional: true, description });

/** The parameters of a list of the admin API: its DTO extends this one with filters. */
export class ListParameters {
  @PageSize(100, 'Items per page.') page_size!: number;
  @PageCursor() page_cursor?: PagePlace;

  get page(): { readonly pageSize: number; readonly after?: PagePlace | undefined } {
    return { pageSize: this.page_size, after: this.page_cursor };
  }
}

export interface CreatedListQuery {
  readonly created_from?: string;
  readonly created_to?: string;
  readonly page_size: number;
  readonly page_cursor?: PagePlace;
}

/** The parameters of a list in the order of creation, with `pageSize` items on a page by default. */
export function createdListQuery(pageSize: number, sizeDescription: string): Dto<CreatedListQuery> {
  class PageOfCreated implements CreatedListQuery {
    @Day('First day, in UTC.')
    created_from?: string;

    @Day('Last day, inclusive, in UTC.')
    created_to?: string;

    @PageSize(pageSize, sizeDescription)
    page_size!: number;

    @PageCursor()
    page_cursor?: PagePlace;
  }
  return PageOfCreated;
}

export function createdPage(query: CreatedListQuery): CreatedPage {
  return {
    createdFrom: query.created_from,
    createdTo: query.created_to,
    pageSize: query.page_size,
    after: query.page_cursor,
  };
}
