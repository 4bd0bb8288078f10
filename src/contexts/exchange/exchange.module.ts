import { Module } from '@nestjs/common';
import { defineContext } from '../../platform/context.js';
import { ApiModule } from './api.module.js';
import { ORDER_EVENTS } from './domain/order-events.js';
import { Exchange1764000000900 } from './migrations/1764000000900-exchange.js';
import { ExchangeOrderViews1764000000950 } from './migrations/1764000000950-exchange-order-views.js';
import { ProvidersModule } from './providers.module.js';
import { checkExchangeSettings, EXCHANGE_SETTINGS } from './settings.js';
import { orderViews } from './views/order-projection.js';

/** Exchange orders, tokens, on-ramp configuration and the pay widget (contract.md 21 to 26). */
@Module({ imports: [ApiModule, ProvidersModule] })
export class ExchangeModule {}

export const exchange = defineContext({
  name: 'exchange',
  module: () => ExchangeModule,
  events: ORDER_EVENTS,
  subscriptions: () => [orderViews],
  settings: EXCHANGE_SETTINGS,
  checkSettings: checkExchangeSettings,
  migrations: [Exchange1764000000900, ExchangeOrderViews1764000000950],
});
