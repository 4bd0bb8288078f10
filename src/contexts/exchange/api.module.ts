import { Module } from '@nestjs/common';
import { SignedLinks } from './application/signed-links.js';
import { ConfigurationController } from './http/configuration.controller.js';
import { MerchantOrdersController } from './http/merchant-orders.controller.js';
import { OrdersController } from './http/orders.controller.js';
import { TokensController } from './http/tokens.controller.js';
import { OperatedOrdersModule } from './orders.module.js';
import { ProvidersModule } from './providers.module.js';

/** The endpoints of the exchange API. */
@Module({
  imports: [ProvidersModule, OperatedOrdersModule],
  controllers: [OrdersController, MerchantOrdersController, ConfigurationController, TokensController],
  providers: [SignedLinks],
})
export class ApiModule {}
