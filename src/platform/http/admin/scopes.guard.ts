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
  /** Begins the paths of its routes: `admin/v1/`, for example. */
  readonly prefix: string;
  /** Key of the metadata of a route: the scopes that it needs. */
  readonly scopesKey: string;
  /** Key of the metadata that each of its GET routes has, too. */
  readonly readsKey?: string;
}

/** The caller of an API whose routes need scopes. */
export interface ScopedCaller {
  readonly scopes: ReadonlySet<string>;
  /** Ids of the merchants whose data the caller reads; null: all. */
  readonly merchants: readonly string[] | null;
  /** Idempotency-Keys of two callers with the same scope are the same keys. */
  readonly idempotencyScope: string;
}

/** Identifies callers. */
export abstract class Callers<Caller extends ScopedCaller = ScopedCaller> {
  /** Counts the request. Throws Refusal: 401, 403 for an address or origin, 429. */
  abstract admit(request: FastifyRequest, reply: FastifyReply): Promise<Caller>;
}

/**
 * Lets in callers with every scope that the route declares, and leaves the caller in `request.edge.visitor`. A request to
 * another listener is left to that one's guard.
 */
export abstract class ScopesGuard implements CanActivate {
  constructor(
    private readonly api: ScopedApi,
    private readonly callers: Callers,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const { edge } = request;
    if (edge.page !== this.api.page) return true;
    const caller = await this.callers.admit(request, http.getResponse<FastifyReply>());
    requireScopes(caller, Reflect.getMetadata(this.api.scopesKey, context.getHandler()) as readonly string[]);
    edge.visitor = caller;
    edge.idempotencyScope = caller.idempotencyScope;
    return true;
  }
}

/** A controller of the API. A route that lacks its metadata stops the boot. */
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
        throw new Error(`${target.name}.${name} is shared, and no lookup confines it to a merchant`);
    }
    PageController(page, prefix + path)(target);
    UseGuards(guard)(target);
  };
}
