import { Module } from '@nestjs/common';
import { defineContext } from '../../platform/context.js';
import { ORDER_EVENTS } from './domain/order-events.js';
import { Exchange1764000000900 } from './migrations/1764000000900-exchange.js';

/** Exchange orders, tokens, on-ramp configuration and the pay widget (contract.md 21 to 26). */
@Module({})
export class ExchangeModule {}

export const exchange = defineContext({
  name: 'exchange',
  module: () => ExchangeModule,
  events: ORDER_EVENTS,
  migrations: [Exchange1764000000900],
});
