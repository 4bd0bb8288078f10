import { Global, Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { defineContext } from '../../platform/context.js';
import { OperatorDirectory } from '../../platform/operations/operations.js';
import { AdminCallers } from '../../platform/http/admin/admin.guard.js';
import { MERCHANT_DIRECTORY, type MerchantDirectory } from '../../platform/http/merchant-directory.js';
import { MemoryBudget } from '../../platform/http/request-body.js';
import { AccessCommands, MERCHANT_HANDLERS } from './application/merchant-commands.js';
import { CREDENTIAL_HANDLERS } from './application/credential-commands.js';
import { CredentialSecrets } from './application/credential-secrets.js';
import { CredentialDirectory, EXCHANGE_KEY_DIRECTORY } from './application/credential-directory.js';
import { OPERATOR_HANDLERS } from './application/operator-commands.js';
import { credentialHistory } from './domain/credentials.js';
import { merchantHistory } from './domain/merchant.js';
import { operatorHistory } from './domain/operator.js';
import { portalSessionHistory } from './domain/portal-session.js';
import { AdminAuthentication, adminScheme } from './http/admin/admin-authentication.js';
import { AdminCredentials } from './http/admin/admin-credentials.js';
import { AdminCredentialsController } from './http/admin/credentials.controller.js';
import { AdminMerchantsController } from './http/admin/merchants.controller.js';
import { AdminOperatorsController, AdminWhoamiController } from './http/admin/operators.controller.js';
import { merchantScheme, SignatureGuard } from './http/signature.guard.js';
import { PortalMerchantController } from './http/portal/portal.controller.js';
import { RequestTable } from './store/request-table.js';
import { checkAccessSettings, accessConfig } from './settings.js';
import { Access1795000000250 } from './migrations/1795000000250-access.js';
import { CredentialIndex, sealedSecrets } from './views/credentials.js';
import {
  MerchantList,
  OperatorsView,
  PortalSessionsView,
  directoryProjection,
} from './views/directory-projection.js';
import { CredentialUses, NewSecrets, PortalUses } from './store/credential-uses.js';
import { OidcLogin } from './adapters/oidc-login.js';
import { Passkeys, People } from './application/console/people.js';
import { ConsoleSite, PortalSite } from './http/page-site.js';
import { ConsoleController } from './http/console/console.controller.js';
import { ConsoleSessionTable, LoginSecrets, PasskeyCounters } from './store/console-sessions.js';
import { PortalCallers } from '../../platform/http/admin/portal.guard.js';
import { PortalSessions } from './application/portal-sessions.js';
import { PortalSessionsController } from './http/portal-sessions.controller.js';
import { PortalAuthentication } from './http/portal/portal-authentication.js';
import { PortalPageController } from './http/portal/page.controller.js';
import { RequestLog } from '../../platform/http/request-log.js';
import { BufferedRequestLog } from './store/request-log.js';
import { AdminRequestsController } from './http/admin/requests.controller.js';

/** The callers of the service: merchants, operators and their credentials. */
@Global()
@Module({
  controllers: [
    ...[AdminWhoamiController, AdminMerchantsController, AdminCredentialsController],
    ...[AdminOperatorsController, AdminRequestsController, ConsoleController],
    ...[PortalSessionsController, PortalMerchantController, PortalPageController],
  ],
  providers: [
    ...[AccessCommands, ...MERCHANT_HANDLERS, ...CREDENTIAL_HANDLERS, ...OPERATOR_HANDLERS],
    ...[MerchantList, OperatorsView, PortalSessionsView, CredentialIndex],
    ...[NewSecrets, CredentialSecrets, CredentialUses, AdminCredentials],
    ...[AdminAuthentication, ConsoleSessionTable, LoginSecrets, PasskeyCounters],
    ...[People, Passkeys, OidcLogin, ConsoleSite],
    ...[PortalSessions, PortalUses, PortalSite, PortalAuthentication],
    ...[RequestTable, BufferedRequestLog],
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
      inject: [MERCHANT_DIRECTORY, MemoryBudget],
      useFactory: (merchants: MerchantDirectory, memory: MemoryBudget) =>
        new SignatureGuard(merchants, memory),
    },
    { provide: AdminCallers, useExisting: AdminAuthentication },
    { provide: PortalCallers, useExisting: PortalAuthentication },
    { provide: RequestLog, useExisting: BufferedRequestLog },
  ],
  exports: [
    AdminCallers,
    PortalCallers,
    RequestLog,
    OperatorDirectory,
    MERCHANT_DIRECTORY,
    EXCHANGE_KEY_DIRECTORY,
    CredentialIndex,
  ],
})
class AccessModule {}

export const access = defineContext({
  name: 'access',
  module: () => AccessModule,
  sealed: { 'portal_session.created.v1': { fields: ['actor'], subject: 'session_id' } },
  histories: [merchantHistory, credentialHistory, operatorHistory, portalSessionHistory],
  sealedTexts: { exchange_secrets: sealedSecrets('exchange'), merchant_keys: sealedSecrets('payouts') },
  readModels: [directoryProjection],
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
  config: accessConfig,
  checkSettings: checkAccessSettings,
  programs: {
    exchange: async () => (await import('./cli/exchange-key.js')).exchangeKeyCommands,
    operator: async () => (await import('./cli/operator.js')).operatorProgram,
  },
  migrations: [Access1795000000250],
});
