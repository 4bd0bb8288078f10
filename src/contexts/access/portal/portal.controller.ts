import { Get, HttpCode, Inject, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CLOCK, type Clock } from '../../../kernel/clock.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { processConfig, type ProcessConfig } from '../../../platform/config/config.js';
import { Field } from '../../../platform/dto/field.js';
import { text, instant } from '../../../platform/dto/rules.js';
import {
  PortalController,
  PortalScopes,
  type PortalCaller,
} from '../../../platform/http/admin/portal.guard.js';
import type { ApiCaller } from '../../../platform/http/merchant-directory.js';
import { PORTAL_PAGE } from '../../../platform/http/listeners.js';
import {
  ValidBody,
  MerchantOfRequest,
  Cause,
  MerchantId,
  OptionalBody,
  Ticket,
  UuidParam,
} from '../../../platform/http/decorators.js';
import { sendApplication } from '../../../platform/http/pages/document.js';
import { PageController } from '../../../platform/http/pages/page.js';
import { VisitorLimits } from '../../../platform/http/pages/visitors.js';
import { Refusal } from '../../../platform/http/problem.js';
import { PortalSessions } from './portal-sessions.service.js';
import { type PortalSession, PORTAL_SCOPES } from './portal-session.js';
import { PortalUses } from './portal-uses.store.js';
import { truth, label } from '../merchants/rules.dto.js';
import { PageReply, PortalSite } from './sites.page.js';
import { PortalAuthentication } from './portal-authentication.guard.js';
import { Caller } from '../../../platform/http/admin/admin.guard.js';
import { RateLimitGuard, WINDOW_SECONDS } from '../../../platform/http/rate-limit.guard.js';
import { RequestTable } from '../requests/request-table.store.js';
import { MerchantList } from '../merchants/directory.view.js';
import { CommandBus } from '@nestjs/cqrs';
import type { EventMetadata } from '../../../platform/event-store/port.js';
import type { IdempotencyTicket } from '../../../platform/idempotency/ticket.js';
import { IssueCredential, plainOrder, RevokeCredential } from '../credentials/credentials.commands.js';
import { CredentialIndex, type AdminCredential } from '../credentials/credentials.view.js';
import { SECRET_DISPLAYED_MS } from '../credentials/credentials.js';

const BAD_CODE = {
  status: 401,
  title: 'Invalid link',
  detail: 'The link was used already, has expired or was revoked',
};

class EntryCode {
  @Field(text({ maxLength: 128 })) code!: string;
  /** True to end the browser's session in another merchant's portal. */
  @Field(truth, { optional: true }) replace?: boolean;
}

/** The page of the portal at every path, and the start and end of its session (admin-api.md 6). */
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

const KEY = 'Key';

class NewPortalKey {
  @Field(label, { optional: true, nullable: true }) name?: string | null;
  @Field(instant, { optional: true, nullable: true }) expires_at?: Date | null;
}

/** The portal API for the session, the rate limit usage, and key writes without a reason (admin-api.md 6). */
@PortalController()
export class PortalMerchantController {
  constructor(
    private readonly merchants: MerchantList,
    private readonly limits: RateLimitGuard,
    private readonly requests: RequestTable,
    private readonly credentials: CredentialIndex,
    private readonly commandBus: CommandBus,
  ) {}

  @Get('me')
  @PortalScopes()
  async me(@Caller() caller: PortalCaller) {
    const { id, name, status } = await this.merchants.get(caller.merchantId);
    return {
      merchant: { id, name, status },
      actor: caller.actor,
      scopes: PORTAL_SCOPES.filter((each) => caller.scopes.has(each)),
      session_expires_at: caller.expiresAt,
      return_url: caller.returnUrl,
    };
  }

  @Get('usage')
  @PortalScopes('usage:read')
  async usage(@MerchantOfRequest() merchant: ApiCaller) {
    const { limit, used: leased, resetsAt } = await this.limits.usage(merchant);
    // Counts logged requests, because leases exceed use. The first request may slightly precede the window.
    const from = (resetsAt ?? 0) - (WINDOW_SECONDS + 1) * 1000;
    const used = await this.requests.since(merchant.merchantId, from, leased);
    const resets_at = resetsAt === null ? null : new Date(resetsAt).toISOString();
    return { limit, used, resets_at, days: await this.requests.days(merchant.merchantId) };
  }

  /** Issues a `payouts` key. Only this response and its repeats within a day contain the `secret`. */
  @Post('keys')
  @HttpCode(201)
  @PortalScopes('keys:write')
  async issue(
    @MerchantId() merchant_id: string,
    @Ticket() ticket: IdempotencyTicket,
    @Cause() cause: EventMetadata,
    @OptionalBody() { name, expires_at }: NewPortalKey,
  ) {
    ticket.hideSecretAfter(SECRET_DISPLAYED_MS);
    const id = ticket.id('credential');
    const terms = { name: name ?? '', expires_at: expires_at?.toISOString() ?? null };
    const command = new IssueCredential(id, plainOrder({ kind: 'payouts', merchant_id, ...terms }));
    const { secret } = await this.commandBus.execute(Object.assign(command, { cause }));
    return { credential: { ...(await this.find(id, merchant_id)), secret } };
  }

  @Post('keys/:id/revoke')
  @HttpCode(200)
  @PortalScopes('keys:write')
  async revoke(
    @MerchantId() merchant_id: string,
    @UuidParam('id', KEY) id: string,
    @Cause() cause: EventMetadata,
  ) {
    const credential = await this.find(id, merchant_id);
    if (credential.status === 'revoked') return { credential };
    const command = new RevokeCredential(id, { merchant_id, operator_id: null });
    await this.commandBus.execute(Object.assign(command, { cause }));
    return { credential: await this.find(id, merchant_id) };
  }

  private find(id: string, merchantId: string): Promise<AdminCredential> {
    return this.credentials.find(id, { merchants: [merchantId], operatorId: null }, KEY);
  }
}
