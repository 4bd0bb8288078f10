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

/** A merchant's people see the personal data in the orders of the merchant, in reads that the portal shares with operators. */
const OWN_PERSONAL_SCOPE = 'users_personal:read';

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
    this.limits.take(ip, session.merchant_id, session.session_id);
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      this.site.requireOwnOrigin(request);
      if (merchant.status === 'suspended') throw new Refusal(SUSPENDED);
    }
    Object.assign(edge, { merchant, portalSessionId: session.session_id });
    return callerOf(session);
  }

  /** Of the cookie, while it is active; null otherwise. */
  async session(request: FastifyRequest): Promise<PortalSession | null> {
    const token = this.site.session(request);
    return token === null ? null : this.sessions.find(token);
  }

  /** Null also where the session was idle for too long. */
  private async merchantOf(session: PortalSession, uses: boolean): Promise<KnownMerchant | null> {
    const { session_id, merchant_id } = session;
    return (await this.uses.find(session_id, uses)) ? this.merchants.find(merchant_id) : null;
  }
}

function callerOf(session: PortalSession): PortalCaller {
  return {
    scopes: new Set([...session.scopes, OWN_PERSONAL_SCOPE]),
    merchants: [session.merchant_id],
    idempotencyScope: session.session_id,
    merchantId: session.merchant_id,
    sessionId: session.session_id,
    actor: session.actor,
    expiresAt: session.session_expires_at!,
    returnUrl: session.return_url,
  };
}
