import { Global, Inject, Module, type OnModuleInit } from '@nestjs/common';
import { defineContext } from '../../platform/context.js';
import { Authentications } from '../../platform/http/authentication.js';
import {
  CachedDirectory,
  MERCHANT_DIRECTORY,
  type MerchantDirectory,
} from '../../platform/http/merchant-directory.js';
import {
  IssueSecretHandler,
  RevokeSecretHandler,
  SetAddressesHandler,
  CredentialSecrets,
  Credentials,
} from './application/credentials.js';
import {
  IssueExchangeKeyHandler,
  RevokeExchangeKeyHandler,
  SetExchangeKeyPageHandler,
} from './application/exchange-key-commands.js';
import { EXCHANGE_KEY_DIRECTORY, KnownCredentials } from './application/known-credentials.js';
import {
  RegisterMerchantHandler,
  ReinstateMerchantHandler,
  SetEmbeddingHandler,
  SuspendMerchantHandler,
} from './application/merchant-commands.js';
import { EXCHANGE_KEY_EVENTS } from './domain/exchange-key.js';
import { exchangeKeyHistory, merchantHistory } from './domain/history.js';
import { MERCHANT_EVENTS } from './domain/merchant.js';
import { merchantScheme } from './http/merchant-scheme.js';
import { portalSessionHistory } from './domain/portal-history.js';
import { PORTAL_SESSION_EVENTS } from './domain/portal-session.js';
import { PortalModule } from './portal.module.js';
import { portalSessionsProjection } from './views/portal-sessions.js';
import { RequestLogModule } from './request-log.module.js';
import { LoggedRequestRow } from './views/logged-requests.js';
import { SvcSignature } from './http/svc-signature.js';
import { Access1795000000200 } from './migrations/1795000000200-access.js';
import { directoryProjection, DirectoryView, validSecrets } from './views/directory.js';

/** Who may call, with which credentials, from where. Operators act through the CLI. */
@Global()
@Module({
  providers: [
    CredentialSecrets,
    Credentials,
    IssueSecretHandler,
    RevokeSecretHandler,
    SetAddressesHandler,
    RegisterMerchantHandler,
    SuspendMerchantHandler,
    ReinstateMerchantHandler,
    SetEmbeddingHandler,
    IssueExchangeKeyHandler,
    RevokeExchangeKeyHandler,
    SetExchangeKeyPageHandler,
    DirectoryView,
    KnownCredentials,
    {
      provide: MERCHANT_DIRECTORY,
      inject: [KnownCredentials],
      useFactory: (known: KnownCredentials) => new CachedDirectory((id) => known.merchant(id)),
    },
    {
      provide: EXCHANGE_KEY_DIRECTORY,
      inject: [KnownCredentials],
      useFactory: (known: KnownCredentials) => new CachedDirectory((id) => known.exchangeKey(id)),
    },
  ],
  exports: [MERCHANT_DIRECTORY, EXCHANGE_KEY_DIRECTORY, DirectoryView],
})
class CredentialsModule {}

/** With the signatures of the merchant API. */
@Module({ imports: [CredentialsModule, RequestLogModule, PortalModule] })
class AccessModule implements OnModuleInit {
  constructor(
    private readonly authentications: Authentications,
    @Inject(MERCHANT_DIRECTORY) private readonly merchants: MerchantDirectory,
  ) {}

  onModuleInit(): void {
    this.authentications.register(new SvcSignature(this.merchants));
  }
}

export const access = defineContext({
  name: 'access',
  module: () => AccessModule,
  events: [...MERCHANT_EVENTS, ...EXCHANGE_KEY_EVENTS, ...PORTAL_SESSION_EVENTS],
  sealed: { 'portal_session.created.v1': { fields: ['actor'], subject: 'session_id' } },
  histories: [merchantHistory, exchangeKeyHistory, portalSessionHistory],
  sealedTexts: { exchange_secrets: validSecrets('exchange_key'), merchant_keys: validSecrets('api_key') },
  readModels: [directoryProjection, portalSessionsProjection],
  document: {
    schemes: [merchantScheme],
    tags: { 'Portal sessions': [9, 'How persons of the merchant enter its portal.'] },
  },
  operator: { module: () => CredentialsModule },
  programs: {
    merchant: async () => (await import('./cli/merchant.js')).merchantProgram,
    exchange: async () => (await import('./cli/exchange-keys.js')).exchangeKeyCommands,
  },
  entities: [LoggedRequestRow],
  migrations: [Access1795000000200],
});
