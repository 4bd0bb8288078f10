import { Inject, Module, type OnModuleInit } from '@nestjs/common';
import { Authentications } from '../../platform/http/authentication.js';
import { CachedDirectory } from '../../platform/http/cached-directory.js';
import { MERCHANT_DIRECTORY, type MerchantDirectory } from '../../platform/http/merchant-directory.js';
import {
  EXCHANGE_KEY_DIRECTORY,
  type ExchangeKeyDirectory,
  type KnownExchangeKey,
} from './application/keys/exchange-caller.js';
import { ExchangeKeyChanges } from './application/keys/exchange-key-changes.js';
import { ExchangeKeyLoader } from './application/keys/exchange-key-loader.js';
import { ExchangeKeySecrets } from './application/keys/exchange-key-secrets.js';
import { IssueExchangeKeyHandler } from './application/keys/issue-exchange-key.js';
import { RevokeExchangeKeyHandler } from './application/keys/revoke-exchange-key.js';
import { RevokeExchangeSecretHandler } from './application/keys/revoke-exchange-secret.js';
import { RotateExchangeKeyHandler } from './application/keys/rotate-exchange-key.js';
import { SetExchangeKeyAddressesHandler } from './application/keys/set-exchange-key-addresses.js';
import { SetExchangeKeyPageHandler } from './application/keys/set-exchange-key-page.js';
import { ExchangeAuthentication } from './http/exchange-authentication.js';
import { ExchangeKeysView } from './views/keys.js';

/** API keys of the exchange: who may call it, with which secrets, from where. Operators act through the CLI. */
@Module({
  providers: [
    ExchangeKeySecrets,
    ExchangeKeyChanges,
    ExchangeKeyLoader,
    ExchangeKeysView,
    IssueExchangeKeyHandler,
    RotateExchangeKeyHandler,
    RevokeExchangeSecretHandler,
    RevokeExchangeKeyHandler,
    SetExchangeKeyAddressesHandler,
    SetExchangeKeyPageHandler,
    {
      provide: EXCHANGE_KEY_DIRECTORY,
      inject: [ExchangeKeyLoader],
      useFactory: (loader: ExchangeKeyLoader) =>
        new CachedDirectory<KnownExchangeKey>((keyId) => loader.load(keyId)),
    },
  ],
  exports: [EXCHANGE_KEY_DIRECTORY, ExchangeKeysView],
})
export class ExchangeKeysModule {}

/** The door of `/v1`; of the service alone, programs of operators have none. */
@Module({ imports: [ExchangeKeysModule] })
export class ExchangeDoorModule implements OnModuleInit {
  constructor(
    private readonly authentications: Authentications,
    @Inject(EXCHANGE_KEY_DIRECTORY) private readonly keys: ExchangeKeyDirectory,
    @Inject(MERCHANT_DIRECTORY) private readonly merchants: MerchantDirectory,
  ) {}

  onModuleInit(): void {
    this.authentications.register(new ExchangeAuthentication(this.keys, this.merchants));
  }
}
