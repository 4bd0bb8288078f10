import { Inject, Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { httpConfig, type HttpConfig } from '../config/config.js';
import { failpoint } from '../failpoints.js';
import { Database } from '../postgres/database.js';
import { KeyedHash } from '../sealing/keyed-hash.js';
import { isInside } from './address.js';
import { parseJsonBody, requireReadable } from './json-body.js';
import { MemoryBudget } from './memory-budget.js';
import { callerOf, type ApiCaller } from './merchant-directory.js';
import { Refusal, SUSPENDED } from './problem.js';
import { CallerRateLimiter, type Usage } from './rate-limit.js';
import { receiveBody } from './request-body.js';
import { rawPath } from './request-state.js';

/** Admits an authentic request to an API, or throws {@link Refusal}: 403 of contract.md 2, then 429. */
@Injectable()
export class Admission {
  private readonly limiter: CallerRateLimiter;
  private readonly keyLimiter: CallerRateLimiter;

  constructor(
    readonly memory: MemoryBudget,
    { pool }: Database,
    keyedHash: KeyedHash,
    @Inject(httpConfig.KEY) { rateLimitPerMinute }: HttpConfig,
  ) {
    this.limiter = new CallerRateLimiter(pool, rateLimitPerMinute, keyedHash);
    this.keyLimiter = new CallerRateLimiter(pool, rateLimitPerMinute, keyedHash, Date.now, 'key');
  }

  async admit(request: FastifyRequest, reply: FastifyReply, caller: ApiCaller): Promise<void> {
    const { edge } = request;
    const isKey = caller.callerId !== undefined;
    if (caller.status === 'suspended') throw new Refusal(SUSPENDED);
    if (caller.ipAllowList.length > 0 && !isInside(request.ip, caller.ipAllowList)) {
      const detail = `The address is outside the IP allow-list of the ${isKey ? 'API key' : 'merchant'}`;
      throw new Refusal({ status: 403, detail });
    }
    const limiter = isKey ? this.keyLimiter : this.limiter.withLimit(caller.requestsPerMinute ?? null);
    await limiter.admit(caller.countedAs ?? callerOf(caller), reply);
    Object.assign(edge, { merchant: caller });
    failpoint('request.authenticated');
    edge.idempotencyScope = callerOf(caller);
  }

  /** What the merchant has used of its limit; `resetsAt`: epoch milliseconds, null while it has used nothing. */
  async usage({ merchantId, requestsPerMinute = null }: ApiCaller): Promise<Usage> {
    return this.limiter.withLimit(requestsPerMinute).usage(merchantId);
  }
}

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
    private readonly admission: Admission,
  ) {}

  /** Before the body is read: the merchant whom the request names. Throws {@link Refusal}. */
  abstract identify(request: FastifyRequest): Promise<ApiCaller>;

  /** With the body read: throws unless the merchant sent the request. */
  verify(_request: FastifyRequest, _reply: FastifyReply, _caller: ApiCaller): void {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    return this.covers(request) ? this.admit(request, http.getResponse<FastifyReply>()) : true;
  }

  private covers({ edge, raw }: FastifyRequest): boolean {
    if (edge.page !== null) return false;
    const path = edge.route ?? rawPath({ raw });
    const { length } = this.prefix;
    return path.startsWith(this.prefix) && (path.length === length || path[length] === '/');
  }

  private async admit(request: FastifyRequest, reply: FastifyReply): Promise<true> {
    const { edge } = request;
    if (edge.route !== null) failpoint('request.received');
    edge.authentication = this;
    const caller = await this.identify(request);
    await receiveBody(request, reply, this.admission.memory);
    this.verify(request, reply, caller);
    await this.admission.admit(request, reply, caller);
    return true;
  }
}

/** A guard of documented routes that need no caller: a body is refused there like elsewhere on the API. */
@Injectable()
export class OpenGuard implements CanActivate {
  constructor(private readonly memory: MemoryBudget) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    if (request.edge.page !== null) return true;
    await receiveBody(request, http.getResponse<FastifyReply>(), this.memory);
    parseBody(request);
    return true;
  }
}

/** Puts the parsed body on the request. Throws DomainError, and {@link Refusal} because of its headers. */
export function parseBody(request: FastifyRequest): void {
  const { rawBody } = request.edge;
  if (rawBody.length === 0 || (request.body ?? null) !== null) return;
  requireReadable(request.headers);
  request.body = request.routeOptions.config.bodyAsBytes ? rawBody : parseJsonBody(rawBody);
}
