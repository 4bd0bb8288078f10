import { Module } from '@nestjs/common';
import { defineContext } from '../../platform/context.js';
import { WorkListCheck } from '../../platform/projections/work-list-check.js';
import { ApiModule } from './api.module.js';
import { ORDER_EVENTS, PERSONAL_FIELDS } from './domain/order-events.js';
import { Exchange1795000000900 } from './migrations/1795000000900-exchange.js';
import { OperatedOrdersModule, OrdersModule } from './orders.module.js';
import { PayModule } from './pay.module.js';
import { checkExchangeSettings, EXCHANGE_SETTINGS } from './settings.js';
import { orderViews } from './views/order-projection.js';
import { acrossOrders, orderHistory } from './domain/order-rules.js';
import { OPEN_ORDERS } from './application/watch-saga.js';

/** Exchange orders, tokens, on-ramp configuration and the pay widget (contract.md 21 to 26). */
@Module({ imports: [ApiModule, OrdersModule, PayModule] })
export class ExchangeModule {}

export const exchange = defineContext({
  name: 'exchange',
  module: () => ExchangeModule,
  events: ORDER_EVENTS,
  histories: [orderHistory],
  logRules: [acrossOrders],
  checks: [{ name: OPEN_ORDERS.name, of: (tables) => new WorkListCheck(OPEN_ORDERS, tables) }],
  sealed: { 'order.created.v1': { fields: PERSONAL_FIELDS, subject: 'order_id' } },
  subscriptions: (get) => [orderViews, ...OrdersModule.subscriptions(get)],
  operator: { module: () => OperatedOrdersModule, subscriptions: () => [] },
  programs: { exchange: async () => (await import('./cli/exchange.js')).exchangeProgram },
  settings: EXCHANGE_SETTINGS,
  checkSettings: checkExchangeSettings,
  migrations: [Exchange1795000000900],
});
