import { Get, HttpCode, Inject, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CLOCK, type Clock } from '../../../kernel/clock.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { processConfig, type ProcessConfig } from '../../../platform/config/config.js';
import { Field } from '../../../platform/dto/field.js';
import { text } from '../../../platform/dto/rules.js';
import { PORTAL_PAGE } from '../../../platform/http/listeners.js';
import { ValidBody } from '../../../platform/http/decorators.js';
import { sendApplication } from '../../../platform/http/pages/document.js';
import { PageController } from '../../../platform/http/pages/page.js';
import { VisitorLimits } from '../../../platform/http/pages/visitors.js';
import { Refusal } from '../../../platform/http/problem.js';
import { PortalSessions } from './portal-sessions.service.js';
import type { PortalSession } from './portal-session.js';
import { PortalUses } from '../credentials/credential-uses.store.js';
import { truth } from '../merchants/rules.dto.js';
import { PageReply, PortalSite } from './sites.page.js';
import { PortalAuthentication } from './portal-authentication.guard.js';

const BAD_CODE = {
  status: 401,
  title: 'Invalid link',
  detail: 'The link was used already, has expired or was revoked',
};

class EntryCode {
  @Field(text({ maxLength: 128 })) code!: string;
  /** True: the person leaves the portal of another merchant. */
  @Field(truth, { optional: true }) replace?: boolean;
}

/** The document of the portal at every path of its pages, and the start and end of its session (admin-api.md 6). */
@PageController(PORTAL_PAGE)
export class PortalPageController {
  constructor(
    private readonly sessions: PortalSessions,
    private readonly authentication: PortalAuthentication,
    private readonly uses: PortalUses,
    private readonly site: PortalSite,
    private readonly limits: VisitorLimits,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(processConfig.KEY) private readonly config: ProcessConfig,
  ) {}

  @Get(['/', '*'])
  open(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    const facts = { page: 'portal', mode: this.config.mode };
    sendApplication(request, reply, PORTAL_PAGE, { title: 'Disburse portal', facts });
  }

  @Post('session')
  @HttpCode(204)
  async enter(
    @Req() request: FastifyRequest,
    @PageReply() reply: FastifyReply,
    @ValidBody() { code, replace = false }: EntryCode,
  ): Promise<void> {
    this.site.requireOwnOrigin(request);
    const id = this.sessions.idIn(code);
    this.limits.take(request.ip, 'portal', id);
    const former = await this.authentication.session(request);
    const lives = former !== null && !replace && (await this.uses.find(former.session_id, false));
    const leaves = lives ? former.merchant_id : null;
    const { token, expiresAt } = await this.sessions.enter(code, leaves).catch(refused);
    if (former !== null) await this.revoke(former, request, 'POST /session');
    await this.uses.begin(id);
    const seconds = Math.floor((Date.parse(expiresAt) - this.clock.now().getTime()) / 1000);
    this.site.setSession(reply, token, seconds);
  }

  /** A repeat is no error. */
  @Post('logout')
  @HttpCode(204)
  async logout(@Req() request: FastifyRequest, @PageReply() reply: FastifyReply): Promise<void> {
    this.site.requireOwnOrigin(request);
    const session = await this.authentication.session(request);
    if (session !== null) await this.revoke(session, request, 'POST /logout');
    this.site.clearSession(reply);
  }

  private revoke(session: PortalSession, request: FastifyRequest, actor: string): Promise<void> {
    const { session_id, merchant_id } = session;
    const cause = { actor, request_id: request.id, portal_session_id: session_id };
    return this.sessions.revoke(merchant_id, session_id, cause);
  }
}

function refused(error: unknown): never {
  if (error instanceof DomainError && error.code === 'forbidden') throw new Refusal(BAD_CODE);
  throw error;
}
