import { Inject, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { CONFIG, type Config } from '../../../../platform/config/config.js';
import type { AdminCaller } from '../../../../platform/http/admin/admin-controller.js';
import { Refusal } from '../../../../platform/http/problem.js';
import { ConsoleSessions, type ConsoleSession } from '../../application/console/sessions.js';
import { ConsoleCookies } from './console-cookie.js';
import { ConsoleOrigin } from './console-origin.js';

export const SIGNED_OUT = { status: 401, title: 'Invalid session', detail: 'Sign in to the console' };
const READ_ONLY = { status: 403, detail: 'The console is read-only' };

/** Identifies callers of the admin API by their session of the console (admin-api.md 1 and 5). */
@Injectable()
export class ConsoleAuthentication {
  constructor(
    private readonly sessions: ConsoleSessions,
    private readonly cookies: ConsoleCookies,
    private readonly origin: ConsoleOrigin,
    @Inject(CONFIG) private readonly config: Pick<Config, 'consoleReadOnly'>,
  ) {}

  /** Null for a request without the cookie. Throws Refusal: 401, or 403 for a write from another site or of a read-only console. */
  async admit(request: FastifyRequest): Promise<AdminCaller | null> {
    if (this.cookies.session(request) === null) return null;
    const session = await this.session(request);
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      this.origin.require(request);
      if (this.config.consoleReadOnly) throw new Refusal(READ_ONLY);
    }
    return callerOf(session, request);
  }

  /** Throws Refusal (401). `uses`: the request counts as activity of the person. */
  async session(request: FastifyRequest, uses = true): Promise<ConsoleSession> {
    const token = this.cookies.session(request);
    const session = token === null ? null : await this.sessions.find(token, uses);
    if (session === null) throw new Refusal(SIGNED_OUT);
    return session;
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
