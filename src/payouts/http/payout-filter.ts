import { MAX_PAGE, readPageQuery } from '../../platform/http/page-query.js';
import { enumParameter, uuidParameter, type Query } from '../../platform/http/query.js';
import type { PayoutFilter } from '../views/list-payouts.js';

/** The filter a query string asks for; 400 naming the parameter at fault (merchant-api section 4.2). */
export function readPayoutFilter(query: Query): PayoutFilter {
  const userId = uuidParameter(query, 'user_id');
  const status = enumParameter(query, 'status', ['pending', 'received', 'expired']);
  return {
    ...readPageQuery(query, { pageSize: MAX_PAGE }),
    ...(userId === undefined ? {} : { userId }),
    ...(status === undefined ? {} : { status }),
  };
}
