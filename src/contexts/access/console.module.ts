import { Global, Module } from '@nestjs/common';
import { OpenidProvider } from './adapters/openid-provider.js';
import { IdentityProvider } from './application/console/identity-provider.js';
import { LoginLinks } from './application/console/login-links.js';
import { OidcLogin } from './application/console/oidc-login.js';
import { Passkeys } from './application/console/passkeys.js';
import { People } from './application/console/people.js';
import { SessionTokens } from './application/console/sessions.js';
import { ConsoleSessions } from './http/admin/admin-authentication.js';
import { ConsoleAuthentication } from './http/console/console-authentication.js';
import { ConsoleSite } from './http/page-site.js';
import { ConsolePageController } from './http/console/console-page.controller.js';
import { LoginController } from './http/console/login.controller.js';
import { SessionController } from './http/console/session.controller.js';
import { ConsoleSessionTable } from './store/console-sessions.js';
import { LoginSecrets } from './store/login-secrets.js';
import { PasskeyCounters } from './store/passkey-counters.js';

/** One-time links, also for programs of operators. */
@Global()
@Module({
  providers: [LoginSecrets, ConsoleSessionTable, LoginLinks],
  exports: [LoginSecrets, ConsoleSessionTable, LoginLinks],
})
export class LoginLinksModule {}

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
export class ConsoleModule {}
