export { TEST_MONEY, type TestMoney } from './application/test-money.js';
export {
  ORDER_STATUSES,
  type DepositFacts,
  type OrderEvent,
  type OrderFacts,
  type OrderStatus,
} from './domain/order-events.js';

/** The stream category of orders: an order's stream is `order-<order_id>`. */
export const ORDER_CATEGORY = 'order';
