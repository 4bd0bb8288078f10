import { Inject, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { PortalCallers, type PortalCaller } from '../../../../platform/http/admin/portal-controller.js';
import {
  MERCHANT_DIRECTORY,
  type KnownMerchant,
  type MerchantDirectory,
} from '../../../../platform/http/merchant-directory.js';
import { VisitorLimits } from '../../../../platform/http/pages/visitors.js';
import { Refusal, SUSPENDED } from '../../../../platform/http/problem.js';
import { ActivePortalSessions } from '../../application/portal-session-commands.js';
import type { PortalSession } from '../../domain/portal-session.js';
import { PortalUses } from '../../store/credential-uses.js';
import { isActivity, PortalSite } from '../page-site.js';

const SESSION_ENDED = { status: 401, title: 'Invalid session', detail: 'The session has ended' };

/** Identifies persons of merchants by their session, which is read with each request: one that is revoked ends at once. */
@Injectable()
export class PortalAuthentication extends PortalCallers {
  constructor(
    @Inject(MERCHANT_DIRECTORY) private readonly merchants: MerchantDirectory,
    private readonly sessions: ActivePortalSessions,
    private readonly uses: PortalUses,
    private readonly site: PortalSite,
    private readonly limits: VisitorLimits,
  ) {
    super();
  }

  async admit(request: FastifyRequest): Promise<PortalCaller> {
    const { edge, ip } = request;
    const session = await this.session(request);
    const merchant = session && (await this.merchantOf(session, isActivity(request)));
    if (!session || !merchant) throw new Refusal(SESSION_ENDED);
    this.limits.take(ip, session.merchantId, session.id);
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      this.site.requireOwnOrigin(request);
      if (merchant.status === 'suspended') throw new Refusal(SUSPENDED);
    }
    Object.assign(edge, { merchant, portalSessionId: session.id });
    return callerOf(session);
  }

  /** Of the cookie, while it is active; null otherwise. */
  async session(request: FastifyRequest): Promise<PortalSession | null> {
    const token = this.site.session(request);
    return token === null ? null : this.sessions.find(token);
  }

  /** Null also where the session was idle for too long. */
  private async merchantOf({ id, merchantId }: PortalSession, uses: boolean): Promise<KnownMerchant | null> {
    return (await this.uses.find(id, uses)) ? this.merchants.find(merchantId) : null;
  }
}

function callerOf(session: PortalSession): PortalCaller {
  return {
    scopes: new Set(session.scopes),
    idempotencyScope: session.id,
    merchantId: session.merchantId,
    sessionId: session.id,
    actor: session.actor,
    expiresAt: session.expiresAt!,
    returnUrl: session.returnUrl,
  };
}
