import { Module } from '@nestjs/common';
import { OrdersView } from './views/orders.js';

/** The endpoints of the exchange API. */
@Module({
  providers: [OrdersView],
})
export class ApiModule {}
