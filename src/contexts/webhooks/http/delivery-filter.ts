import { PAGE_PARAMETERS, readPageQuery } from '../../../platform/http/page-query.js';
import { enumParameter, requireKnown, type Query } from '../../../platform/http/query.js';
import { DELIVERY_STATUSES } from '../domain/delivery-json.js';
import { EVENT_TYPES } from '../domain/envelope.js';
import type { DeliveryFilter } from '../views/list-deliveries.js';

/** Deliveries on a page when `page_size` is not given. */
export const DEFAULT_PAGE = 100;

/** The filter a query string asks for; 400 naming the parameter at fault. */
export function readDeliveryFilter(query: Query): DeliveryFilter {
  requireKnown(query, ['status', 'type', ...PAGE_PARAMETERS]);
  const status = enumParameter(query, 'status', DELIVERY_STATUSES);
  const type = enumParameter(query, 'type', EVENT_TYPES);
  return {
    ...readPageQuery(query, { pageSize: DEFAULT_PAGE }),
    ...(status === undefined ? {} : { status }),
    ...(type === undefined ? {} : { type }),
  };
}
