export { TEST_MONEY, type TestMoney } from './application/ports.js';
export type { DepositFacts, OrderEvent } from './domain/order-events.js';
export { amountRefundable, order, type ExistingOrder } from './domain/order.js';
