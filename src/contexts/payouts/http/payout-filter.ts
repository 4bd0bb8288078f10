import { MAX_PAGE, PAGE_PARAMETERS, readPageQuery } from '../../../platform/http/page-query.js';
import { enumParameter, requireKnown, uuidParameter, type Query } from '../../../platform/http/query.js';
import type { PayoutFilter } from '../views/payouts.js';

/** The filter a query string asks for; 400 naming the parameter at fault (contract.md 9.7). */
export function readPayoutFilter(query: Query): PayoutFilter {
  requireKnown(query, ['user_id', 'status', ...PAGE_PARAMETERS]);
  const userId = uuidParameter(query, 'user_id');
  const status = enumParameter(query, 'status', ['pending', 'received', 'expired']);
  return {
    ...readPageQuery(query, { pageSize: MAX_PAGE }),
    ...(userId === undefined ? {} : { userId }),
    ...(status === undefined ? {} : { status }),
  };
}
