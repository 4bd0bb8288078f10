import { Inject, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { CONFIG, type Config } from '../../../../platform/config/config.js';
import type { AdminCaller } from '../../../../platform/http/admin/admin-controller.js';
import { Refusal } from '../../../../platform/http/problem.js';
import { SessionTokens, type ConsoleSession } from '../../application/console/sessions.js';
import { ConsoleSite, isActivity } from '../page-site.js';

const SIGNED_OUT = { status: 401, title: 'Invalid session', detail: 'Sign in to the console' };
const READ_ONLY = { status: 403, detail: 'The console is read-only' };

/** Identifies callers of the admin API by their session of the console (admin-api.md 1 and 5). */
@Injectable()
export class ConsoleAuthentication {
  constructor(
    private readonly sessions: SessionTokens,
    private readonly site: ConsoleSite,
    @Inject(CONFIG) private readonly config: Pick<Config, 'consoleReadOnly'>,
  ) {}

  /**
   * Whose session the cookie of the request is; null without one that is valid. Throws Refusal (403) for a write from another
   * origin, or while the console is read-only.
   */
  async find(request: FastifyRequest): Promise<AdminCaller | null> {
    const session = await this.current(request);
    if (session === null) return null;
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      this.site.requireOwnOrigin(request);
      if (this.config.consoleReadOnly) throw new Refusal(READ_ONLY);
    }
    return callerOf(session, request);
  }

  /** Throws Refusal (401). */
  async session(request: FastifyRequest): Promise<ConsoleSession> {
    const session = await this.current(request);
    if (session === null) throw new Refusal(SIGNED_OUT);
    return session;
  }

  private async current(request: FastifyRequest): Promise<ConsoleSession | null> {
    const token = this.site.session(request);
    return token === null ? null : this.sessions.find(token, isActivity(request));
  }
}

function callerOf({ person, ...session }: ConsoleSession, { ip }: FastifyRequest): AdminCaller {
  return {
    operatorId: person.operatorId,
    name: person.name,
    role: person.role,
    credentialId: null,
    address: ip,
    scopes: person.scopes,
    merchants: null,
    // A person, whatever session: a repeat after a new login is the same request.
    idempotencyScope: person.operatorId,
    expiresAt: session.expires_at.toISOString(),
    authenticatedAt: session.authenticated_at.toISOString(),
    sessionId: session.session_id,
  };
}
