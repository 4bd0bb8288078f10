import { Inject, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { AdminCaller } from '../../../../platform/http/admin/admin-controller.js';
import { Refusal } from '../../../../platform/http/problem.js';
import { People, type Person } from '../../application/console/people.js';
import { ConsoleSessionTable, type ConsoleSessionRow } from '../../store/console-sessions.js';
import { ConsoleSite, isActivity } from '../page-site.js';
import { accessConfig, type AccessConfig } from '../../settings.js';

const SIGNED_OUT = { status: 401, title: 'Invalid session', detail: 'Sign in to the console' };
const READ_ONLY = { status: 403, detail: 'The console is read-only' };

export interface ConsoleSession extends ConsoleSessionRow {
  readonly person: Person;
}

/** Identifies callers of the admin API by their session of the console (admin-api.md 1 and 5). */
@Injectable()
export class ConsoleAuthentication {
  constructor(
    private readonly sessions: ConsoleSessionTable,
    private readonly people: People,
    private readonly site: ConsoleSite,
    @Inject(accessConfig.KEY) private readonly config: AccessConfig,
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

  /** Null where it has ended, or its person may not sign in any more. */
  private async current(request: FastifyRequest): Promise<ConsoleSession | null> {
    const token = this.site.session(request);
    const session = token === null ? null : await this.sessions.find(token, isActivity(request));
    if (session === null) return null;
    const person = await this.people.find(session.operator_id);
    const isOld = person?.disabledAt && session.authenticated_at <= person.disabledAt;
    return person && !isOld ? { ...session, person } : null;
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
