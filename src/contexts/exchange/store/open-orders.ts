import { subscriptionName } from '../../../platform/projections/projection.js';
import type { WorkList } from '../../../platform/projections/table-check.js';
import { WATCH } from '../domain/watch-schedule.js';

/** The subscription that keeps the list of open orders. */
export const WATCH_SAGA = subscriptionName('exchange.watch');

/** An order that is not on the list would stay open for ever. */
export const OPEN_ORDERS: WorkList = {
  name: WATCH_SAGA,
  table: 'work.items',
  listed: `kind = '${WATCH}' and key = due.id::text`,
  id: 'order_id',
  begins: 'order.created.v1',
  ends: [
    'order.completed.v1',
    'order.cancelled.v1',
    'order.expired.v1',
    'order.failed.v1',
    'order.refunded.v1',
  ],
};
