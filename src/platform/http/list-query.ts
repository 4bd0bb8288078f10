import type { CreatedDays, KeysetPage } from '../postgres/list-page.js';
import { Fault } from '../../kernel/fault.js';
import { Field, type Dto, type Rule } from '../dto/field.js';
import { day, digits, text } from '../dto/rules.js';
import { decodeCursor, type PagePlace } from '../postgres/page-cursor.js';

/** The maximum number of items in a page (contract.md 6). */
export const MAX_PAGE = 1000;

export const Day = (description: string): PropertyDecorator => Field(day, { optional: true, description });

export const PageSize = (fallback: number, description: string): PropertyDecorator =>
  Field(digits(1, MAX_PAGE), { optional: true, default: fallback, description });

export const PageCursor = (): PropertyDecorator =>
  Field(
    text({}, (value) => decodeCursor(value) ?? new Fault('must be the next_cursor of an earlier response')),
    { optional: true, description: 'The next_cursor of the page before.' },
  );

export const Filter = (rule: Rule, description: string): PropertyDecorator =>
  Field(rule, { optional: true, description });

/** The parameters of every list of the admin API. Subclasses add filters. */
export class ListParameters implements KeysetPage {
  @PageSize(100, 'Items per page.') page_size!: number;
  @PageCursor() page_cursor?: PagePlace;
}

/** Creates the query class of a list in the order of creation. `pageSize` is the default page size. */
export function createdListQuery(pageSize: number, sizeDescription: string): Dto<CreatedDays & KeysetPage> {
  class PageOfCreated implements CreatedDays, KeysetPage {
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
