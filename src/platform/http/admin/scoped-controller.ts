import {
  applyDecorators,
  Injectable,
  RequestMethod,
  UseGuards,
  UseInterceptors,
  type CallHandler,
  type CanActivate,
  type ExecutionContext,
  type NestInterceptor,
  type Type,
} from '@nestjs/common';
import { METHOD_METADATA } from '@nestjs/common/internal';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { SCOPES_KEY } from '../../openapi/route.js';
import { requireScopes } from '../../operations/scopes.js';
import { KeyedRequests } from '../keyed-requests.js';
import { PageController, type Page } from '../pages/page.js';
import { ResponseSent } from '../problem.js';

/** Who calls an API whose routes need scopes. */
export interface ScopedCaller {
  readonly scopes: ReadonlySet<string>;
  /** Idempotency-Keys of two callers with the same scope are the same keys. */
  readonly idempotencyScope: string;
}

/** Identifies callers. */
export abstract class Callers<Caller extends ScopedCaller = ScopedCaller> {
  /** Counts the request. Throws Refusal: 401, 403 for an address or origin, 429. */
  abstract admit(request: FastifyRequest, reply: FastifyReply): Promise<Caller>;
}

/** Lets in callers with every scope that the route declares, and leaves the caller in `request.edge.visitor`. */
export abstract class ScopesGuard implements CanActivate {
  constructor(private readonly callers: Callers) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const caller = await this.callers.admit(request, http.getResponse<FastifyReply>());
    requireScopes(caller, Reflect.getMetadata(SCOPES_KEY, context.getHandler()) as readonly string[]);
    request.edge.visitor = caller;
    return true;
  }
}

/** Writes under an Idempotency-Key run once for each caller. */
@Injectable()
class KeyedWrites implements NestInterceptor {
  constructor(private readonly keyed: KeyedRequests) {}

  async intercept(context: ExecutionContext, next: CallHandler) {
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const { idempotencyScope } = request.edge.visitor as ScopedCaller;
    if (!(await this.keyed.acquire(request, http.getResponse<FastifyReply>(), idempotencyScope)))
      throw new ResponseSent();
    return next.handle();
  }
}

/**
 * A controller on the listener of a page whose routes declare the scopes that they need, and each GET the metadata
 * `ofReads`; one that does not stops the boot.
 */
export function ScopedController(
  page: Page,
  path: string,
  guard: Type<ScopesGuard>,
  ofReads?: string,
): ClassDecorator {
  return (target) => {
    for (const name of Object.getOwnPropertyNames(target.prototype)) {
      const method: unknown = (target.prototype as Record<string, unknown>)[name];
      const verb = typeof method === 'function' ? Reflect.getMetadata(METHOD_METADATA, method) : undefined;
      if (typeof method !== 'function' || verb === undefined) continue;
      if (!Array.isArray(Reflect.getMetadata(SCOPES_KEY, method)))
        throw new Error(`${target.name}.${name} declares no scopes`);
      if (ofReads && verb === RequestMethod.GET && !Reflect.hasMetadata(ofReads, method))
        throw new Error(`${target.name}.${name} declares no ${ofReads}`);
    }
    PageController(page, path)(target);
    applyDecorators(UseGuards(guard), UseInterceptors(KeyedWrites))(target);
  };
}
