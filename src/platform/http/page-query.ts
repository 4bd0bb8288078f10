import { DomainError } from '../../kernel/domain-error.js';
import type { CreatedPage } from '../database/created-page.js';
import { decodeCursor } from './page-cursor.js';
import { dateParameter, integerParameter, textParameter, type Query } from './query.js';

/** The most items a page may have (merchant-api section 8). */
export const MAX_PAGE = 1000;

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
  const pageSize = integerParameter(query, 'page_size', { min: 1, max: MAX_PAGE, fallback });
  const cursor = textParameter(query, 'page_cursor');
  const after = cursor === undefined ? undefined : decodeCursor(cursor);
  if (after === null)
    throw new DomainError('bad_request', 'page_cursor must be the next_cursor of an earlier answer');
  return {
    pageSize,
    ...(createdFrom === undefined ? {} : { createdFrom }),
    ...(createdTo === undefined ? {} : { createdTo }),
    ...(after === undefined ? {} : { after }),
  };
}
