import { Global, Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { defineContext } from '../../platform/context.js';
import { OperatorDirectory } from '../../platform/operations/operations.js';
import { AdminCallers } from '../../platform/http/admin/admin.guard.js';
import { MerchantDirectory } from '../../platform/http/merchant-directory.js';
import { AccessCommands, MERCHANT_HANDLERS } from './merchants/merchants.commands.js';
import { CREDENTIAL_HANDLERS } from './credentials/credentials.commands.js';
import { CredentialSecrets } from './credentials/credential-secrets.service.js';
import { CredentialDirectory, ExchangeKeyDirectory } from './credentials/credential-directory.service.js';
import { OPERATOR_HANDLERS } from './operators/operators.commands.js';
import { credentialHistory } from './credentials/credentials.js';
import { merchantHistory } from './merchants/merchant.js';
import { operatorHistory } from './operators/operator.js';
import { portalSessionHistory } from './portal/portal-session.js';
import { AdminAuthentication, adminScheme } from './operators/admin-authentication.guard.js';
import { AdminCredentialsController } from './credentials/credentials.controller.js';
import { AdminMerchantsController } from './merchants/merchants.controller.js';
import { AdminOperatorsController, AdminWhoamiController } from './operators/operators.controller.js';
import { merchantScheme, SignatureGuard } from './credentials/signature.guard.js';
import { PortalMerchantController, PortalPageController } from './portal/portal.controller.js';
import { PortalUses } from './portal/portal-uses.store.js';
import { PortalAuthentication } from './portal/portal-authentication.guard.js';
import { RequestTable } from './requests/request-table.store.js';
import { checkAccessSettings, accessConfig } from './access.config.js';
import { Access1795000000250 } from './migrations/1795000000250-access.js';
import { CredentialIndex, sealedSecrets } from './credentials/credentials.view.js';
import {
  MerchantList,
  OperatorsView,
  PortalSessionsView,
  directoryProjection,
} from './merchants/directory.view.js';
import { NewSecrets } from './credentials/new-secrets.store.js';
import { OidcLogin } from './operators/oidc-login.adapter.js';
import { Passkeys, People } from './console/people.service.js';
import { ConsoleSite, PortalSite } from './portal/sites.page.js';
import { ConsoleController } from './console/console.controller.js';
import { ConsoleSessionTable, LoginSecrets } from './console/console-sessions.store.js';
import { PortalCallers } from '../../platform/http/admin/portal.guard.js';
import { PortalSessions } from './portal/portal-sessions.service.js';
import { PortalSessionsController } from './portal/portal-sessions.controller.js';
import { RequestLog } from '../../platform/http/request-log.js';
import { BufferedRequestLog } from './requests/request-log.store.js';
import { AdminRequestsController } from './requests/requests.controller.js';

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
    ...[NewSecrets, CredentialSecrets],
    ...[AdminAuthentication, ConsoleSessionTable, LoginSecrets],
    ...[People, Passkeys, OidcLogin, ConsoleSite],
    ...[PortalSessions, PortalUses, PortalSite, PortalAuthentication],
    ...[RequestTable, BufferedRequestLog],
    CredentialDirectory,
    { provide: OperatorDirectory, useExisting: CredentialDirectory },
    {
      provide: MerchantDirectory,
      inject: [CredentialDirectory],
      useFactory: ({ merchants }: CredentialDirectory) => merchants,
    },
    {
      provide: ExchangeKeyDirectory,
      inject: [CredentialDirectory],
      useFactory: ({ exchangeKeys }: CredentialDirectory) => exchangeKeys,
    },
    { provide: APP_GUARD, useClass: SignatureGuard },
    { provide: AdminCallers, useExisting: AdminAuthentication },
    { provide: PortalCallers, useExisting: PortalAuthentication },
    { provide: RequestLog, useExisting: BufferedRequestLog },
  ],
  exports: [
    AdminCallers,
    PortalCallers,
    RequestLog,
    OperatorDirectory,
    MerchantDirectory,
    ExchangeKeyDirectory,
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
    exchange: async () => (await import('./credentials/exchange-key.program.js')).exchangeKeyCommands,
    operator: async () => (await import('./operators/operator.program.js')).operatorProgram,
  },
  migrations: [Access1795000000250],
});
