import { DomainError } from '../../../kernel/domain-error.js';
import { cursorParameter, pageSizeParameter } from '../../../platform/http/page-query.js';
import { decodeExactCursor } from '../../../platform/http/page-cursor.js';
import { dateParameter, requireKnown, textParameter, type Query } from '../../../platform/http/query.js';
import type { JourneyFilter } from '../views/journey.js';

/** What no event_name holds, and PostgreSQL cannot read. */
const CONTROL = /\p{Cc}/u;
/** Events on a page when `page_size` is not given. */
export const DEFAULT_PAGE = 100;

/** The filter a query string asks for; 400 naming the parameter at fault. */
export function readJourneyFilter(query: Query): JourneyFilter {
  requireKnown(query, ['event_name', 'event_from', 'event_to', 'page_size', 'page_cursor']);
  const eventName = textParameter(query, 'event_name');
  if (eventName !== undefined && CONTROL.test(eventName))
    throw new DomainError('bad_request', 'event_name must hold no control characters');
  const eventFrom = dateParameter(query, 'event_from');
  const eventTo = dateParameter(query, 'event_to');
  const pageSize = pageSizeParameter(query, DEFAULT_PAGE);
  const after = cursorParameter(query, decodeExactCursor);
  return {
    pageSize,
    ...(eventName === undefined ? {} : { eventName: eventName.trim().toLowerCase() }),
    ...(eventFrom === undefined ? {} : { eventFrom }),
    ...(eventTo === undefined ? {} : { eventTo }),
    ...(after === undefined ? {} : { after }),
  };
}
