import { RequestMethod, UseGuards, type CanActivate, type ExecutionContext, type Type } from '@nestjs/common';
import { METHOD_METADATA } from '@nestjs/common/internal';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { handlersIn } from '../../discovered-methods.js';
import { requireScopes } from '../../operations/scopes.js';
import type { Page } from '../listeners.js';
import { PageController, findSharedRoute } from '../pages/page.js';

/** An API whose routes need scopes. The listener of its page serves it. */
export interface ScopedApi {
  readonly page: Page;
  /** The path prefix without a leading slash, such as `admin/v1/`. */
  readonly prefix: string;
  readonly scopesKey: string;
  /** The key of the metadata that each GET route must have; undefined if a GET needs none. */
  readonly readsKey?: string;
}

export interface ScopedCaller {
  readonly scopes: ReadonlySet<string>;
  /** The ids of the merchants whose data the caller may read; null for all. */
  readonly merchants: readonly string[] | null;
  readonly idempotencyScope: string;
}

export abstract class Callers<Caller extends ScopedCaller = ScopedCaller> {
  /** Identifies the caller. Throws a Refusal: 401, 403 (wrong address or origin) or 429 (rate limit). */
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
          `${target.name}.${name} is a shared route, so its @Reads must declare a lookup of merchant data`,
        );
    }
    PageController(page, prefix + path)(target);
    UseGuards(guard)(target);
  };
}
