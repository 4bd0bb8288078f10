import { Global, Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { defineContext } from '../../platform/context.js';
import { OperatorDirectory } from '../../platform/operations/operator-directory.js';
import { AdminCallers } from '../../platform/http/admin/admin-controller.js';
import { Admission } from '../../platform/http/api-guard.js';
import { MERCHANT_DIRECTORY, type MerchantDirectory } from '../../platform/http/merchant-directory.js';
import { CallerRateLimiter } from '../../platform/http/rate-limit.js';
import { Database } from '../../platform/postgres/database.js';
import { KeyedHash } from '../../platform/sealing/keyed-hash.js';
import { AccessCommands } from './application/access-commands.js';
import { CREDENTIAL_HANDLERS } from './application/credential-commands.js';
import { CredentialSecrets } from './application/credential-secrets.js';
import { KEY_HANDLERS } from './application/key-commands.js';
import { CredentialDirectory, EXCHANGE_KEY_DIRECTORY } from './application/credential-directory.js';
import { MERCHANT_HANDLERS } from './application/merchant-commands.js';
import { OPERATOR_HANDLERS } from './application/operator-commands.js';
import {
  credentialHistory,
  merchantHistory,
  operatorHistory,
  portalSessionHistory,
} from './domain/history.js';
import {
  ADMIN_RATE_LIMITER,
  ADMIN_REQUESTS_PER_MINUTE,
  AdminAuthentication,
  adminScheme,
  ConsoleSessions,
} from './http/admin/admin-authentication.js';
import { AdminCredentials } from './http/admin/admin-credentials.js';
import { AdminCredentialsController } from './http/admin/credentials.controller.js';
import { AdminMerchantsController } from './http/admin/merchants.controller.js';
import { AdminOperatorsController } from './http/admin/operators.controller.js';
import { AdminWhoamiController } from './http/admin/whoami.controller.js';
import { merchantScheme, SignatureGuard } from './http/signature-guard.js';
import { PortalKeysController } from './http/portal/keys.controller.js';
import { ExpiryGauge } from './application/expiry-gauge.js';
import { portalSessionsProjection, PortalSessionsView } from './views/portal-sessions.js';
import { LoggedRequest, DailyRequests, LoggedRequests } from './views/logged-requests.js';
import { checkAccessSettings, ACCESS_SETTINGS } from './settings.js';
import { Access1795000000250 } from './migrations/1795000000250-access.js';
import {
  CredentialIndex,
  CredentialList,
  CredentialRow,
  CredentialUseRow,
  sealedSecrets,
} from './views/credentials.js';
import { MerchantListRow, MerchantList } from './views/merchant-list.js';
import { DisplayedOperator, OperatorsList, OperatorsView } from './views/operators.js';
import { CredentialUses, PortalUses } from './store/credential-uses.js';
import { NewSecrets } from './store/new-secrets.js';
import { directoryProjection } from './views/directory-projection.js';
import { AccessSearch } from './views/search.js';
import { OpenidProvider } from './adapters/openid-provider.js';
import { IdentityProvider, OidcLogin } from './application/console/oidc-login.js';
import { LoginLinks } from './application/console/login-links.js';
import { Passkeys } from './application/console/passkeys.js';
import { People } from './application/console/people.js';
import { SessionTokens } from './application/console/sessions.js';
import { ConsoleAuthentication } from './http/console/console-authentication.js';
import { ConsoleSite, PortalSite } from './http/page-site.js';
import { ConsolePageController } from './http/console/console-page.controller.js';
import { LoginController } from './http/console/login.controller.js';
import { SessionController } from './http/console/session.controller.js';
import { ConsoleSessionTable } from './store/console-sessions.js';
import { LoginSecrets } from './store/login-secrets.js';
import { PasskeyCounters } from './store/passkey-counters.js';
import { PortalCallers } from '../../platform/http/admin/portal-controller.js';
import {
  PortalLinks,
  CreatePortalSessionHandler,
  EnterPortalHandler,
  RevokePortalSessionHandler,
  ActivePortalSessions,
} from './application/portal-session-commands.js';
import { PortalAddress, PortalSessionsController } from './http/portal-sessions.controller.js';
import { PortalAuthentication } from './http/portal/portal-authentication.js';
import { PortalOverviewController } from './http/portal/overview.controller.js';
import { PortalPageController } from './http/portal/page.controller.js';
import { RequestLog } from '../../platform/http/request-log.js';
import { BufferedRequestLog } from './store/request-log.js';
import { AdminRequestsController } from './http/admin/requests.controller.js';
import { RequestPartitions, RequestTable } from './store/request-table.js';

/** The console: its document, its sessions and the ways to sign in (admin-api.md 5). It needs the directory of operators. */
@Module({
  // The document is at every path that no other route has.
  controllers: [SessionController, LoginController, ConsolePageController],
  providers: [
    PasskeyCounters,
    People,
    { provide: IdentityProvider, useClass: OpenidProvider },
    SessionTokens,
    Passkeys,
    OidcLogin,
    ConsoleSite,
    ConsoleAuthentication,
    { provide: ConsoleSessions, useExisting: ConsoleAuthentication },
  ],
  exports: [ConsoleSessions],
})
class ConsoleModule {}

/** Sessions of the merchants' portal (docs/adr/0179); the data is in the controllers of each context. */
@Global()
@Module({
  controllers: [PortalSessionsController, PortalOverviewController, PortalPageController],
  providers: [
    CreatePortalSessionHandler,
    EnterPortalHandler,
    RevokePortalSessionHandler,
    PortalLinks,
    ActivePortalSessions,
    PortalAddress,
    PortalSessionsView,
    MerchantList,
    PortalUses,
    PortalSite,
    PortalAuthentication,
    { provide: PortalCallers, useExisting: PortalAuthentication },
  ],
  exports: [PortalCallers, MerchantList],
})
class PortalModule {}

/** The requests of merchants (docs/adr/0178). The edge records into its {@link RequestLog}. */
@Global()
@Module({
  controllers: [AdminRequestsController],
  providers: [
    RequestTable,
    RequestPartitions,
    LoggedRequests,
    DailyRequests,
    BufferedRequestLog,
    { provide: RequestLog, useExisting: BufferedRequestLog },
  ],
  exports: [RequestLog, LoggedRequests, DailyRequests],
})
class RequestLogModule {}

/** Who may call, with which credentials, from where. Operators act through the admin API. */
@Global()
@Module({
  imports: [ConsoleModule, RequestLogModule, PortalModule],
  controllers: [
    AdminWhoamiController,
    AdminMerchantsController,
    AdminCredentialsController,
    AdminOperatorsController,
    PortalKeysController,
  ],
  providers: [
    LoginSecrets,
    ConsoleSessionTable,
    LoginLinks,
    NewSecrets,
    CredentialSecrets,
    AccessCommands,
    ...CREDENTIAL_HANDLERS,
    ...MERCHANT_HANDLERS,
    ...KEY_HANDLERS,
    ...OPERATOR_HANDLERS,
    CredentialIndex,
    OperatorsView,
    CredentialDirectory,
    { provide: OperatorDirectory, useExisting: CredentialDirectory },
    {
      provide: MERCHANT_DIRECTORY,
      inject: [CredentialDirectory],
      useFactory: ({ merchants }: CredentialDirectory) => merchants,
    },
    {
      provide: EXCHANGE_KEY_DIRECTORY,
      inject: [CredentialDirectory],
      useFactory: ({ exchangeKeys }: CredentialDirectory) => exchangeKeys,
    },
    {
      provide: APP_GUARD,
      inject: [MERCHANT_DIRECTORY, Admission],
      useFactory: (merchants: MerchantDirectory, admission: Admission) =>
        new SignatureGuard(merchants, admission),
    },
    AdminCredentials,
    AccessSearch,
    CredentialList,
    OperatorsList,
    {
      provide: ADMIN_RATE_LIMITER,
      inject: [Database, KeyedHash],
      useFactory: ({ pool }: Database, keyedHash: KeyedHash) =>
        new CallerRateLimiter(pool, ADMIN_REQUESTS_PER_MINUTE, keyedHash, Date.now, 'credential'),
    },
    CredentialUses,
    ExpiryGauge,
    { provide: AdminCallers, useClass: AdminAuthentication },
  ],
  exports: [
    AdminCallers,
    LoginSecrets,
    ConsoleSessionTable,
    LoginLinks,
    CredentialSecrets,
    OperatorDirectory,
    AccessCommands,
    MERCHANT_DIRECTORY,
    EXCHANGE_KEY_DIRECTORY,
    CredentialIndex,
    OperatorsView,
    CredentialDirectory,
  ],
})
class AccessModule {}

export const access = defineContext({
  name: 'access',
  module: () => AccessModule,
  sealed: { 'portal_session.created.v1': { fields: ['actor'], subject: 'session_id' } },
  histories: [merchantHistory, credentialHistory, operatorHistory, portalSessionHistory],
  sealedTexts: { exchange_secrets: sealedSecrets('exchange'), merchant_keys: sealedSecrets('payouts') },
  readModels: [directoryProjection, portalSessionsProjection],
  document: {
    schemes: [merchantScheme, adminScheme],
    tags: {
      'Portal sessions': [9, 'How persons of the merchant enter its portal.'],
      'Admin: merchants': [20, 'Merchants, their settings and their suspension.'],
      'Admin: credentials': [21, 'Keys of merchants, of the exchange and of operators.'],
      'Admin: requests': [27, 'What merchants requested in the last 7 days.'],
      'Admin: operators': [22, 'The persons who operate the service, and their roles.'],
    },
  },
  settings: ACCESS_SETTINGS,
  checkSettings: checkAccessSettings,
  programs: {
    exchange: async () => (await import('./cli/exchange-key.js')).exchangeKeyCommands,
    operator: async () => (await import('./cli/operator.js')).operatorProgram,
  },
  entities: [LoggedRequest, CredentialRow, CredentialUseRow, MerchantListRow, DisplayedOperator],
  migrations: [Access1795000000250],
});
