import { SetMetadata, type CanActivate, type ExecutionContext, type Type } from '@nestjs/common';
import { PATH_METADATA } from '@nestjs/common/internal';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { handlersIn } from '../discovered-methods.js';
import { failpoint } from '../failpoints.js';
import { isInside } from './address.js';
import type { ApiCaller } from './merchant-directory.js';
import { Refusal, SUSPENDED } from './problem.js';
import { receiveBody, type MemoryBudget } from './request-body.js';
import { toCaller, rawPath } from './request-state.js';

/**
 * The authentication of one API: a global guard of everything under its path, unknown paths too. The registered route
 * decides, not the spelling of the path. Nothing is read of a body before its sender is named, or parsed before the sender
 * is authentic.
 */
export abstract class ApiGuard implements CanActivate {
  /** Operations take their inputs from the query string, which therefore is part of what an Idempotency-Key covers. */
  readonly inputsInQuery: boolean = false;

  constructor(
    private readonly prefix: string,
    private readonly memory: MemoryBudget,
  ) {}

  /** Returns the merchant that the request names, before the body is read. Throws {@link Refusal}. */
  abstract identify(request: FastifyRequest): Promise<ApiCaller>;

  /** Verifies, with the body read, that the merchant sent the request. Throws otherwise. */
  verify(_request: FastifyRequest, _reply: FastifyReply, _caller: ApiCaller): void {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const { edge } = request;
    if (edge.page !== null || !this.covers(edge.route ?? rawPath(request))) return true;
    return this.admit(request, http.getResponse<FastifyReply>());
  }

  /** True for the paths of the API. */
  covers(path: string): boolean {
    const { length } = this.prefix;
    return path.startsWith(this.prefix) && (path.length === length || path[length] === '/');
  }

  private async admit(request: FastifyRequest, reply: FastifyReply): Promise<true> {
    const { edge } = request;
    if (edge.route !== null) failpoint('request.received');
    edge.inputsInQuery = this.inputsInQuery;
    const caller = await this.identify(request);
    await receiveBody(request, reply, this.memory);
    this.verify(request, reply, caller);
    requireAdmissible(caller, request);
    edge.merchant = caller;
    edge.idempotencyScope = toCaller(caller);
    failpoint('request.authenticated');
    return true;
  }
}

/** Throws {@link Refusal} (403) for a caller who is authentic, and suspended or elsewhere (contract.md 2). */
function requireAdmissible({ status, ipAllowList, callerId }: ApiCaller, { ip }: FastifyRequest): void {
  if (status === 'suspended') throw new Refusal(SUSPENDED);
  if (ipAllowList.length === 0 || isInside(ip, ipAllowList)) return;
  const owner = callerId === undefined ? 'merchant' : 'API key';
  throw new Refusal({ status: 403, detail: `The address is outside the IP allow-list of the ${owner}` });
}

const PUBLIC = 'public routes';

/** Marks a controller whose routes need no caller. */
export const Public = (): ClassDecorator => SetMetadata(PUBLIC, true);

/** Throws for a route that no API covers and that is not {@link Public}: the boot ends with its name. */
export function requireGuards(controllers: readonly Type[], apis: readonly ApiGuard[]): void {
  for (const controller of controllers) {
    if (Reflect.hasMetadata(PUBLIC, controller)) continue;
    const prefix = Reflect.getMetadata(PATH_METADATA, controller) as string;
    for (const [name, handler] of handlersIn(controller)) {
      const paths = [Reflect.getMetadata(PATH_METADATA, handler) as string | readonly string[]].flat();
      if (!paths.every((path) => apis.some((api) => api.covers(`/${prefix}/${path}`))))
        throw new Error(`${controller.name}.${name} has no guard`);
    }
  }
}
