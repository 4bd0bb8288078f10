import { Global, Module } from '@nestjs/common';
import { defineContext } from '../../platform/context.js';
import { CachedDirectory } from '../../platform/http/cached-directory.js';
import { MERCHANT_DIRECTORY } from '../../platform/http/merchant-directory.js';
import { CredentialsLoader } from './application/credentials-loader.js';
import { IssueMerchantKeyHandler } from './application/issue-merchant-key.js';
import { MerchantChanges } from './application/merchant-changes.js';
import { PrivateKeys } from './application/private-keys.js';
import { RegisterMerchantHandler } from './application/register-merchant.js';
import { ReinstateMerchantHandler } from './application/reinstate-merchant.js';
import { RevokeMerchantKeyHandler } from './application/revoke-merchant-key.js';
import { SetEmbeddingHandler } from './application/set-embedding.js';
import { SetIpAllowListHandler } from './application/set-ip-allow-list.js';
import { SuspendMerchantHandler } from './application/suspend-merchant.js';
import { MERCHANT_EVENTS } from './domain/merchant.js';
import { Merchants1795000000200 } from './migrations/1795000000200-merchants.js';
import { directoryProjection, DirectoryView } from './views/directory.js';
import { merchantHistory } from './domain/history.js';

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
    SetEmbeddingHandler,
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
export class MerchantsModule {}

export const merchants = defineContext({
  name: 'merchants',
  module: () => MerchantsModule,
  events: MERCHANT_EVENTS,
  histories: [merchantHistory],
  sealedTexts: {
    merchant_keys: 'select sealed_private_key as sealed from merchants.keys where revoked_at is null',
  },
  subscriptions: () => [directoryProjection],
  operator: {},
  programs: { merchant: async () => (await import('./cli/merchant.js')).merchantProgram },
  migrations: [Merchants1795000000200],
});
