import { Inject, Module, type OnModuleInit } from '@nestjs/common';
import { Authentications } from '../../platform/http/authentication.js';
import { MERCHANT_DIRECTORY, type MerchantDirectory } from '../../platform/http/merchant-directory.js';
import { EXCHANGE_KEY_DIRECTORY, type ExchangeKeyDirectory } from '../access/contract.js';
import { SignedLinks } from './application/signed-links.js';
import { ConfigurationController } from './http/configuration.controller.js';
import { ExchangeAuthentication } from './http/exchange-authentication.js';
import { MerchantOrdersController } from './http/merchant-orders.controller.js';
import { OrdersController } from './http/orders.controller.js';
import { TokensController } from './http/tokens.controller.js';
import { OperatedOrdersModule } from './orders.module.js';
import { ProvidersModule } from './providers.module.js';

/** The endpoints of the exchange API, and how its requests are authenticated. */
@Module({
  imports: [ProvidersModule, OperatedOrdersModule],
  controllers: [OrdersController, MerchantOrdersController, ConfigurationController, TokensController],
  providers: [SignedLinks],
})
export class ApiModule implements OnModuleInit {
  constructor(
    private readonly authentications: Authentications,
    @Inject(EXCHANGE_KEY_DIRECTORY) private readonly keys: ExchangeKeyDirectory,
    @Inject(MERCHANT_DIRECTORY) private readonly merchants: MerchantDirectory,
  ) {}

  onModuleInit(): void {
    this.authentications.register(new ExchangeAuthentication(this.keys, this.merchants));
  }
}
