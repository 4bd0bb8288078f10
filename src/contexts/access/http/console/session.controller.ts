import { Get, HttpCode, Inject, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CONSOLE_PAGE } from '../../../../platform/http/listeners.js';
import { OPERATIONS } from '../../../../platform/operations/operation.js';
import { PageController } from '../../../../platform/http/pages/page.js';
import { ConsoleSessionTable } from '../../store/console-sessions.js';
import { ConsoleAuthentication } from './console-authentication.js';
import { ConsoleSite } from '../page-site.js';
import { sendApplication } from '../../../../platform/http/pages/document.js';
import { OidcLogin } from '../../adapters/oidc-login.js';
import { accessConfig, type AccessConfig } from '../../settings.js';

/** The session of the person at the browser. */
@PageController(CONSOLE_PAGE)
export class SessionController {
  constructor(
    private readonly authentication: ConsoleAuthentication,
    private readonly sessions: ConsoleSessionTable,
    private readonly site: ConsoleSite,
    @Inject(accessConfig.KEY) private readonly config: AccessConfig,
  ) {}

  /** Who is signed in. `decisions`: operations that the person may decide as another one's second person. */
  @Get('session')
  async session(@Req() request: FastifyRequest) {
    const { person, ...session } = await this.authentication.session(request);
    const { operatorId: id, name, email, role, scopes } = person;
    return {
      operator: { id, name, email, role },
      scopes: [...scopes],
      decisions: this.decisionsWith(scopes),
      method: session.method,
      authenticated_at: session.authenticated_at.toISOString(),
      idle_expires_at: session.idle_expires_at.toISOString(),
      expires_at: session.expires_at.toISOString(),
      read_only: this.config.consoleReadOnly,
    };
  }

  /** Also where the session has ended already. */
  @Post('logout')
  @HttpCode(204)
  async logout(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<void> {
    this.site.requireOwnOrigin(request);
    const token = this.site.session(request);
    const session = token === null ? null : await this.sessions.find(token, false);
    if (session !== null) await this.sessions.end(session.session_id);
    this.site.clearSession(reply);
  }

  /** Of the scopes that an operation gives nothing follows here: a role with its own scope has them all. */
  private decisionsWith(scopes: ReadonlySet<string>): readonly string[] {
    return [...OPERATIONS.values()]
      .filter(({ secondPerson, scope }) => secondPerson && scopes.has(scope))
      .map(({ name }) => name);
  }
}

const TITLE = 'Disburse console';

/** The document of the console at every path of its pages: the script finds the page by the path (admin-api.md 5). */
@PageController(CONSOLE_PAGE)
export class ConsolePageController {
  constructor(
    private readonly oidc: OidcLogin,
    @Inject(accessConfig.KEY) private readonly config: AccessConfig,
  ) {}

  @Get(['/', '*'])
  open(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    const { mode, consoleIdleSeconds: idle_seconds } = this.config;
    const facts = { page: 'console', oidc: this.oidc.isConfigured, mode, idle_seconds };
    sendApplication(request, reply, CONSOLE_PAGE, { title: TITLE, facts });
  }
}
