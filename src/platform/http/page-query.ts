import { DomainError } from '../../kernel/domain-error.js';
import type { CreatedPage } from '../postgres/created-page.js';
import { decodeCursor } from './page-cursor.js';
import { dateParameter, integerParameter, textParameter, type Query } from './query.js';

/** The most items a page may have (contract.md 6.1). */
export const MAX_PAGE = 1000;

/** What {@link readPageQuery} reads. */
export const PAGE_PARAMETERS = ['created_from', 'created_to', 'page_size', 'page_cursor'];

/**
 * The page a query string asks for: `created_from`, `created_to`, `page_size` and `page_cursor`. Throws DomainError
 * `bad_request` (400) naming the parameter at fault.
 */
export function readPageQuery(
  query: Query,
  { pageSize: fallback }: { readonly pageSize: number },
): CreatedPage {
  const createdFrom = dateParameter(query, 'created_from');
  const createdTo = dateParameter(query, 'created_to');
  const pageSize = pageSizeParameter(query, fallback);
  const after = cursorParameter(query, decodeCursor);
  return {
    pageSize,
    ...(createdFrom === undefined ? {} : { createdFrom }),
    ...(createdTo === undefined ? {} : { createdTo }),
    ...(after === undefined ? {} : { after }),
  };
}

/** `page_size`, or the fallback when it is absent. */
export function pageSizeParameter(query: Query, fallback: number): number {
  return integerParameter(query, 'page_size', { min: 1, max: MAX_PAGE, fallback });
}

/** The place of `page_cursor`; undefined when it is absent. */
export function cursorParameter<P>(query: Query, decode: (text: string) => P | null): P | undefined {
  const cursor = textParameter(query, 'page_cursor');
  const place = cursor === undefined ? undefined : decode(cursor);
  if (place === null)
    throw new DomainError('bad_request', 'page_cursor must be the next_cursor of an earlier answer');
  return place;
}
