import { Get, Inject, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CONSOLE_PAGE } from '../../../../platform/http/admin/listeners.js';
import { sendApplication } from '../../../../platform/http/pages/document.js';
import { PageController } from '../../../../platform/http/pages/page.js';
import { OidcLogin } from '../../application/console/oidc-login.js';
import { accessConfig, type AccessConfig } from '../../settings.js';

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
