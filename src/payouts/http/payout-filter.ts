import { DomainError } from '../../kernel/domain-error.js';
import {
  dateParameter,
  enumParameter,
  integerParameter,
  textParameter,
  uuidParameter,
  type Query,
} from '../../platform/http/query.js';
import type { PayoutFilter } from '../views/list-payouts.js';
import { decodeCursor } from '../views/page-cursor.js';

const MAX_PAGE = 1000;

/** The filter a query string asks for; 400 naming the parameter at fault (merchant-api section 4.2). */
export function readPayoutFilter(query: Query): PayoutFilter {
  const userId = uuidParameter(query, 'user_id');
  const status = enumParameter(query, 'status', ['pending', 'received', 'expired']);
  const createdFrom = dateParameter(query, 'created_from');
  const createdTo = dateParameter(query, 'created_to');
  const pageSize = integerParameter(query, 'page_size', { min: 1, max: MAX_PAGE, fallback: MAX_PAGE });
  const cursor = textParameter(query, 'page_cursor');
  const after = cursor === undefined ? undefined : decodeCursor(cursor);
  if (after === null)
    throw new DomainError('bad_request', 'page_cursor must be the next_cursor of an earlier answer');
  return {
    pageSize,
    ...(userId === undefined ? {} : { userId }),
    ...(status === undefined ? {} : { status }),
    ...(createdFrom === undefined ? {} : { createdFrom }),
    ...(createdTo === undefined ? {} : { createdTo }),
    ...(after === undefined ? {} : { after }),
  };
}
