export { TEST_MONEY, type TestMoney } from './application/test-money.js';
export type { DepositFacts, OrderEvent } from './domain/order-events.js';
export { order, owed, type MadeOrder } from './domain/order.js';
