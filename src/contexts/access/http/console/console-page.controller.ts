import { Get, Inject, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { DomainError } from '../../../../kernel/domain-error.js';
import { CONFIG, type Config } from '../../../../platform/config/config.js';
import { CONSOLE_PAGE } from '../../../../platform/http/admin/listeners.js';
import { acceptsHtml, sendPage } from '../../../../platform/http/pages/document.js';
import { PageController } from '../../../../platform/http/pages/page.js';
import { OidcLogin } from '../../application/console/oidc-login.js';

const TITLE = 'Disburse console';

/** The document of the console at every path of its pages: the script finds the page by the path (admin-api.md 5). */
@PageController(CONSOLE_PAGE)
export class ConsolePageController {
  constructor(
    private readonly oidc: OidcLogin,
    @Inject(CONFIG) private readonly config: Pick<Config, 'mode'>,
  ) {}

  @Get()
  index(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    this.open(request, reply);
  }

  @Get('*')
  open(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    if (!acceptsHtml(request) || request.url.startsWith('/admin/')) throw DomainError.notFound('Page');
    sendPage(reply, CONSOLE_PAGE, {
      locale: 'en',
      framedBy: [],
      title: TITLE,
      heading: TITLE,
      facts: { page: 'console', oidc: this.oidc.isConfigured, mode: this.config.mode },
    });
  }
}
