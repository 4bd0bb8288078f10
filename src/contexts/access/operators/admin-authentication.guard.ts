import { createHash } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isInside } from '../../../platform/http/address.js';
import { AdminCallers, type AdminCaller } from '../../../platform/http/admin/admin.guard.js';
import { Refusal } from '../../../platform/http/problem.js';
import { RateLimits } from '../../../platform/http/rate-limit.guard.js';
import { CredentialDirectory, type AdminKey } from '../credentials/credential-directory.service.js';
import { effectiveScopes, isRole, ROLE_SCOPES, SCOPES } from './roles.js';
import { BufferedRequestLog } from '../requests/request-log.store.js';
import { BODY, type ApiScheme } from '../../../platform/openapi/document.js';
import { problemResponse } from '../../../platform/openapi/route.js';
import { People } from '../console/people.service.js';
import { ConsoleSessionTable } from '../console/console-sessions.store.js';
import { ConsoleSite, isActivity, isWrite } from '../portal/sites.page.js';
import { accessConfig, type AccessConfig } from '../access.config.js';

const SIGNED_OUT = { status: 401, title: 'Invalid session', detail: 'Sign in to the console' };
export const READ_ONLY = { status: 403, detail: 'The console is read-only' };

/** The rate limit of one credential (admin-api.md 1). */
const REQUESTS_PER_MINUTE = 600;

const BEARER = /^Bearer +([^ ]+)$/i;

/** Authenticates the admin API by an admin key as bearer token or by a session cookie (admin-api.md 1, 5). */
@Injectable()
export class AdminAuthentication extends AdminCallers {
  constructor(
    private readonly keys: CredentialDirectory,
    private readonly limits: RateLimits,
    private readonly requests: BufferedRequestLog,
    private readonly sessions: ConsoleSessionTable,
    private readonly people: People,
    private readonly site: ConsoleSite,
    @Inject(accessConfig.KEY) private readonly config: AccessConfig,
  ) {
    super();
  }

  override async admit(request: FastifyRequest, reply: FastifyReply): Promise<AdminCaller> {
    const { authorization } = request.headers;
    const caller =
      authorization === undefined
        ? await this.bySession(request)
        : await this.byKey(BEARER.exec(authorization)?.[1] ?? '', request);
    if (!caller) throw unauthorized(authorization === undefined);
    if (caller.credentialId !== null) this.requests.recordUse(caller.credentialId);
    const name = caller.credentialId ?? caller.sessionId ?? '';
    await this.limits.admit({ counts: 'credential', name, limit: REQUESTS_PER_MINUTE }, reply);
    return caller;
  }

  /** Returns the session of the cookie, or null if it ended or the person was disabled since the login. */
  async findSession(request: FastifyRequest) {
    const token = this.site.session(request);
    const session = token === null ? null : await this.sessions.find(token, isActivity(request));
    if (session === null) return null;
    const person = await this.people.find(session.operator_id);
    const isOld = person?.disabled_at && session.authenticated_at <= new Date(person.disabled_at);
    return person && !isOld ? { ...session, person } : null;
  }

  async session(request: FastifyRequest) {
    const session = await this.findSession(request);
    if (session === null) throw new Refusal(SIGNED_OUT);
    return session;
  }

  /** Returns the caller of a session. Refuses (403) writes from another origin or in a read-only console. */
  private async bySession(request: FastifyRequest): Promise<AdminCaller | null> {
    const session = await this.findSession(request);
    if (session === null) return null;
    if (isWrite(request)) {
      this.site.requireOwnOrigin(request);
      if (this.config.consoleReadOnly) throw new Refusal(READ_ONLY);
    }
    const { operator_id: operatorId, name, role } = session.person;
    const scopes = effectiveScopes(SCOPES, role);
    return {
      ...{ operatorId, name, role, scopes, credentialId: null, merchants: null, address: request.ip },
      // The person is the scope, so that a repeat after a new login counts as the same request.
      idempotencyScope: operatorId,
      expiresAt: session.expires_at.toISOString(),
      authenticatedAt: session.authenticated_at.toISOString(),
      sessionId: session.session_id,
    };
  }

  private async byKey(token: string, { ip }: FastifyRequest): Promise<AdminCaller | null> {
    const key = await this.keys.findAdminKey(token);
    if (key === null) return null;
    const { addresses, ...person } = key;
    if (addresses.length > 0 && !isInside(ip, addresses))
      throw new Refusal({ status: 403, detail: 'The address is outside the network ranges of the key' });
    const session = { authenticatedAt: null, sessionId: null, idempotencyScope: toScope(key) };
    return { ...person, ...session, address: ip };
  }
}

/** Returns the idempotency scope. It depends on the rights of the key, so that no replay exceeds them. */
function toScope({ operatorId, role, scopes, merchants, addresses }: AdminKey): string {
  const hasAll = isRole(role) && scopes.size === ROLE_SCOPES[role].length;
  if (hasAll && merchants === null && addresses.length === 0) return operatorId;
  const reach = [[...scopes].sort(), merchants?.toSorted() ?? null, addresses.toSorted()];
  return `${operatorId} ${createHash('sha256').update(JSON.stringify(reach)).digest('hex')}`;
}

function unauthorized(isMissing: boolean): Refusal {
  return new Refusal({
    status: 401,
    title: 'Unauthorized',
    detail: isMissing ? 'An admin key or a session is required' : 'The admin key is not valid',
    headers: { 'www-authenticate': 'Bearer' },
  });
}

/** The OpenAPI description of the admin API (admin-api.md 1). */
export const adminScheme: ApiScheme = {
  prefix: '/admin/v1/',
  readHeaders: ['ETag'],
  statuses: { 401: 'OperatorUnauthorized', 403: 'OperatorForbidden', 404: 'OutOfReach', 503: 'Unavailable' },
  writeStatuses: {
    ...BODY,
    409: 'Conflict',
    412: 'PreconditionFailed',
    422: 'Invalid',
    428: 'PreconditionRequired',
  },
  responses: {
    OperatorUnauthorized: {
      ...problemResponse(
        'The key is missing, malformed, unknown, expired, revoked or not yet approved, or its person is disabled.',
      ),
      headers: { 'WWW-Authenticate': { schema: { type: 'string', const: 'Bearer' } } },
    },
    OperatorForbidden: problemResponse(
      'A scope is missing, which the detail names, or the address is outside the network ranges of the key.',
    ),
    OutOfReach: problemResponse(
      'It does not exist, or belongs to a merchant that the key is not confined to.',
    ),
    PreconditionFailed: problemResponse('It was changed since the revision in If-Match was read.'),
    PreconditionRequired: problemResponse('If-Match is missing.'),
  },
  securitySchemes: {
    adminKey: {
      type: 'http',
      scheme: 'bearer',
      description: 'An admin key, `dsb_<live|test>_admin_...`; the scopes it needs are `x-scopes`.',
    },
  },
};
