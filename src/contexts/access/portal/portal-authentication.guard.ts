import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { PortalCallers, type PortalCaller } from '../../../platform/http/admin/portal.guard.js';
import { MerchantDirectory } from '../../../platform/http/merchant-directory.js';
import { VisitorLimits } from '../../../platform/http/pages/visitors.js';
import { Refusal, SUSPENDED } from '../../../platform/http/problem.js';
import { PortalSessions } from './portal-sessions.service.js';
import type { PortalSession } from './portal-session.js';
import { PortalUses } from './portal-uses.store.js';
import { PortalSite, isActivity, isWrite } from './sites.page.js';

const SESSION_ENDED = { status: 401, title: 'Invalid session', detail: 'The session has ended' };

/** The scope for personal data. All portal sessions have it, because the data belongs to their merchant. */
const OWN_PERSONAL_SCOPE = 'users_personal:read';

/** Authenticates portal sessions. Each request reads the session, so that a revocation applies at once. */
@Injectable()
export class PortalAuthentication extends PortalCallers {
  constructor(
    private readonly merchants: MerchantDirectory,
    private readonly sessions: PortalSessions,
    private readonly uses: PortalUses,
    private readonly site: PortalSite,
    private readonly limits: VisitorLimits,
  ) {
    super();
  }

  async admit(request: FastifyRequest): Promise<PortalCaller> {
    const { edge, ip } = request;
    const session = await this.session(request);
    // A session that was idle for too long has ended.
    const lives = session && (await this.uses.find(session.session_id, isActivity(request)));
    const merchant = lives ? await this.merchants.find(session.merchant_id) : null;
    if (!session || !merchant) throw new Refusal(SESSION_ENDED);
    this.limits.take(ip, session.merchant_id, session.session_id);
    if (isWrite(request)) {
      this.site.requireOwnOrigin(request);
      if (merchant.status === 'suspended') throw new Refusal(SUSPENDED);
    }
    Object.assign(edge, { merchant, portalSessionId: session.session_id });
    return {
      scopes: new Set([...session.scopes, OWN_PERSONAL_SCOPE]),
      merchants: [session.merchant_id],
      idempotencyScope: session.session_id,
      merchantId: session.merchant_id,
      actor: session.actor,
      expiresAt: session.session_expires_at!,
      returnUrl: session.return_url,
    };
  }

  async session(request: FastifyRequest): Promise<PortalSession | null> {
    const token = this.site.session(request);
    return token === null ? null : this.sessions.find(token);
  }
}
