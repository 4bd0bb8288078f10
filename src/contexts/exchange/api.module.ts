import { Module } from '@nestjs/common';
import { MerchantOrdersController } from './http/merchant-orders.controller.js';
import { ProvidersModule } from './providers.module.js';
import { OrdersView } from './views/orders.js';

/** The endpoints of the exchange API. */
@Module({
  imports: [ProvidersModule],
  controllers: [MerchantOrdersController],
  providers: [OrdersView],
})
export class ApiModule {}
