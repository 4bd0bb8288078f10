import { Global, Module, type OnModuleInit } from '@nestjs/common';
import { EventRegistry } from '../../platform/event-store/event-registry.js';
import { SubscriptionRegistry } from '../../platform/projections/subscription-registry.js';
import { MERCHANT_DIRECTORY } from '../../platform/http/edge.js';
import { CachedDirectory } from './application/cached-directory.js';
import { CredentialsLoader } from './application/credentials-loader.js';
import { IssueMerchantKeyHandler } from './application/issue-merchant-key.js';
import { MerchantChanges } from './application/merchant-changes.js';
import { PrivateKeys } from './application/private-keys.js';
import { RegisterMerchantHandler } from './application/register-merchant.js';
import { ReinstateMerchantHandler } from './application/reinstate-merchant.js';
import { RevokeMerchantKeyHandler } from './application/revoke-merchant-key.js';
import { SetIpAllowListHandler } from './application/set-ip-allow-list.js';
import { SuspendMerchantHandler } from './application/suspend-merchant.js';
import { MERCHANT_EVENTS } from './domain/merchant.js';
import { directoryProjection, DirectoryView } from './views/directory.js';

/** Merchants: who may call, with which keys, from where. Operators act through the CLI. */
@Global()
@Module({
  providers: [
    PrivateKeys,
    MerchantChanges,
    RegisterMerchantHandler,
    IssueMerchantKeyHandler,
    RevokeMerchantKeyHandler,
    SuspendMerchantHandler,
    ReinstateMerchantHandler,
    SetIpAllowListHandler,
    DirectoryView,
    CredentialsLoader,
    {
      provide: MERCHANT_DIRECTORY,
      inject: [CredentialsLoader],
      useFactory: (loader: CredentialsLoader) => new CachedDirectory((merchantId) => loader.load(merchantId)),
    },
  ],
  exports: [MERCHANT_DIRECTORY, DirectoryView],
})
export class MerchantsModule implements OnModuleInit {
  constructor(
    private readonly events: EventRegistry,
    private readonly subscriptions: SubscriptionRegistry,
  ) {}

  onModuleInit(): void {
    this.events.register(MERCHANT_EVENTS.map((type) => ({ type })));
    this.subscriptions.register(directoryProjection);
  }
}
