import { RequestMethod, UseGuards, type CanActivate, type ExecutionContext, type Type } from '@nestjs/common';
import { METHOD_METADATA } from '@nestjs/common/internal';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { handlersIn } from '../../discovered-methods.js';
import { requireScopes } from '../../operations/scopes.js';
import type { Page } from '../listeners.js';
import { PageController, findSharedRoute } from '../pages/page.js';

/** An API on the listener of a page, whose routes need scopes. */
export interface ScopedApi {
  readonly page: Page;
  /** The path prefix without a leading slash, such as `admin/v1/`. */
  readonly prefix: string;
  readonly scopesKey: string;
  /** The metadata key that each GET route must have, if any. */
  readonly readsKey?: string;
}

export interface ScopedCaller {
  readonly scopes: ReadonlySet<string>;
  /** The ids of the merchants whose data the caller may read; null for all. */
  readonly merchants: readonly string[] | null;
  readonly idempotencyScope: string;
}

export abstract class Callers<Caller extends ScopedCaller = ScopedCaller> {
  /** Identifies the caller and counts the request. Throws Refusal: 401, 403 for an address or origin, 429. */
  abstract admit(request: FastifyRequest, reply: FastifyReply): Promise<Caller>;
}

/** Admits a caller who has all scopes of the route. Other guards check requests to other listeners. */
export abstract class ScopesGuard implements CanActivate {
  constructor(
    private readonly api: ScopedApi,
    private readonly callers: Callers,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const reply = context.switchToHttp().getResponse<FastifyReply>();
    const { edge } = reply.request;
    if (edge.page !== this.api.page) return true;
    const caller = await this.callers.admit(reply.request, reply);
    requireScopes(caller, Reflect.getMetadata(this.api.scopesKey, context.getHandler()) as readonly string[]);
    edge.visitor = caller;
    edge.idempotencyScope = caller.idempotencyScope;
    return true;
  }
}

/** Declares a controller of the API. A route without the required metadata fails the boot. */
export function ScopedController(api: ScopedApi, path: string, guard: Type<ScopesGuard>): ClassDecorator {
  const { page, prefix, scopesKey, readsKey } = api;
  return (target) => {
    for (const [name, method] of handlersIn(target)) {
      if (!Array.isArray(Reflect.getMetadata(scopesKey, method)))
        throw new Error(`${target.name}.${name} declares no scopes`);
      if (readsKey === undefined) continue;
      const reads = Reflect.getMetadata(readsKey, method) as { readonly lookup: string | null } | undefined;
      if (Reflect.getMetadata(METHOD_METADATA, method) === RequestMethod.GET && reads === undefined)
        throw new Error(`${target.name}.${name} declares no ${readsKey}`);
      if (findSharedRoute(method) !== null && !reads?.lookup)
        throw new Error(
          `${target.name}.${name} is a shared route: expected a lookup that confines it to a merchant`,
        );
    }
    PageController(page, prefix + path)(target);
    UseGuards(guard)(target);
  };
}
