import { createParamDecorator, Injectable, type ExecutionContext } from '@nestjs/common';
import { ApiHeader } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { DomainError } from '../../../kernel/domain-error.js';
import type { Dto } from '../../dto/field.js';
import { SCOPES_KEY } from '../../openapi/route.js';
import { OperatorDirectory, SHELL, type Requester } from '../../operations/operations.js';
import type { IdempotencyTicket } from '../../idempotency/ticket.js';
import { parseId } from '../../dto/rules.js';
import { documentUuid } from '../decorators.js';
import { READS_KEY } from '../reads.js';
import { CONSOLE_PAGE } from '../listeners.js';
import { Callers, ScopedController, ScopesGuard, type ScopedApi, type ScopedCaller } from './scopes.guard.js';
import { fromRequest, getRequest, getTicket } from '../request-state.js';

/** The caller of the admin API: a person with an admin key or a console session, or the machine's shell. */
export interface AdminCaller extends Requester, ScopedCaller {
  readonly expiresAt: string | null;
  /** The time of the login in ISO 8601. It and `sessionId` are null without a console session. */
  readonly authenticatedAt: string | null;
  readonly sessionId: string | null;
}

/** Identifies callers of the admin API. The access context provides it. */
export abstract class AdminCallers extends Callers<AdminCaller> {}

const ADMIN_API: ScopedApi = {
  page: CONSOLE_PAGE,
  prefix: 'admin/v1/',
  scopesKey: SCOPES_KEY,
  readsKey: READS_KEY,
};

@Injectable()
class AdminGuard extends ScopesGuard {
  constructor(callers: AdminCallers, { allScopes: scopes }: OperatorDirectory) {
    const shell = { ...SHELL, scopes, idempotencyScope: SHELL.name, authenticatedAt: null };
    super(ADMIN_API, {
      admit: async (request, reply) =>
        request.raw.listener?.isShell
          ? ({ ...shell, expiresAt: null, sessionId: null } satisfies AdminCaller)
          : callers.admit(request, reply),
    });
  }
}

/** A controller at `/admin/v1/<path>`. Its routes need `scopes` in `@ApiRoute`, and a GET needs `@Reads`. */
export const AdminController = (path = ''): ClassDecorator => ScopedController(ADMIN_API, path, AdminGuard);

/** Injects the caller: an AdminCaller, or a PortalCaller for a request from the portal. */
export const Caller = fromRequest(({ edge }) => edge.visitor);

const ETAG = /^"([0-9]{1,15})"$/;

function documentIfMatch(target: object, key: string | symbol | undefined): void {
  const method = Object.getOwnPropertyDescriptor(target, key!)!;
  const schema = { type: 'string', pattern: '^"[0-9]+"$' };
  const description = 'The ETag of what was read.';
  ApiHeader({ name: 'If-Match', required: true, description, schema })(target, key!, method);
}

/** Returns the revision in `If-Match` (admin-api.md 3). Throws 428 if it is missing, 412 if malformed. */
function revisionIn({ headers }: FastifyRequest): number {
  const header = headers['if-match'];
  if (header === undefined)
    throw new DomainError('precondition_required', 'If-Match is required: send the ETag of the resource');
  const match = ETAG.exec(header);
  if (match === null)
    throw new DomainError('precondition_failed', 'If-Match is not an ETag of this resource');
  return Number(match[1]);
}

export interface AdminWrite {
  readonly requester: AdminCaller;
  readonly idempotency: IdempotencyTicket;
}

/** The request to change an existing resource, with its id and the revision in `If-Match`. */
export interface SubjectWrite extends AdminWrite {
  readonly subject: { readonly id: string; readonly revision: number };
}

export const WriteBy = fromRequest((request): AdminWrite => ({
  requester: request.edge.visitor as AdminCaller,
  idempotency: getTicket(request),
}));

/** Injects the SubjectWrite for the resource whose id is in the path. `what` names the resource in errors. */
export const WriteTo = createParamDecorator(
  (what: string, context: ExecutionContext): SubjectWrite => {
    const request = getRequest(context);
    const revision = revisionIn(request);
    const id = parseId((request.params as { readonly id: string }).id, what);
    const requester = request.edge.visitor as AdminCaller;
    return { requester, idempotency: getTicket(request), subject: { id, revision } };
  },
  [documentIfMatch, (target, key) => documentUuid('id', target, key)],
);

export function listed(page: Dto, others: Readonly<Record<number, string>> = {}) {
  return {
    200: [page, 'One page. The list is exhausted when next_cursor is null.'],
    400: 'A filter, page_size or page_cursor is invalid; detail names it.',
    ...others,
  } as const;
}
