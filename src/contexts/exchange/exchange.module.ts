import { Module } from '@nestjs/common';
import { defineContext } from '../../platform/context.js';
import { ApiModule } from './api.module.js';
import { ORDER_EVENTS, PERSONAL_FIELDS } from './domain/order-events.js';
import { Exchange1764000000900 } from './migrations/1764000000900-exchange.js';
import { ExchangeOrders1764000000920 } from './migrations/1764000000920-exchange-orders.js';
import { ExchangeSandboxProvider1764000000930 } from './migrations/1764000000930-exchange-sandbox-provider.js';
import { SideShift1764000000940 } from './migrations/1764000000940-sideshift.js';
import { ExchangeOrderViews1764000000950 } from './migrations/1764000000950-exchange-order-views.js';
import { OperatedOrdersModule, OrdersModule } from './orders.module.js';
import { PayModule } from './pay.module.js';
import { checkExchangeSettings, EXCHANGE_SETTINGS } from './settings.js';
import { orderViews } from './views/order-projection.js';
import { orderHistory } from './domain/order-rules.js';

/** Exchange orders, tokens, on-ramp configuration and the pay widget (contract.md 21 to 26). */
@Module({ imports: [ApiModule, OrdersModule, PayModule] })
export class ExchangeModule {}

export const exchange = defineContext({
  name: 'exchange',
  module: () => ExchangeModule,
  events: ORDER_EVENTS,
  histories: [orderHistory],
  sealed: { 'order.created.v1': { fields: PERSONAL_FIELDS, subject: 'order_id' } },
  subscriptions: (get) => [orderViews, ...OrdersModule.subscriptions(get)],
  operator: { module: () => OperatedOrdersModule, subscriptions: () => [] },
  programs: { exchange: async () => (await import('./cli/exchange.js')).exchangeProgram },
  settings: EXCHANGE_SETTINGS,
  checkSettings: checkExchangeSettings,
  migrations: [
    Exchange1764000000900,
    ExchangeOrders1764000000920,
    ExchangeSandboxProvider1764000000930,
    SideShift1764000000940,
    ExchangeOrderViews1764000000950,
  ],
});
