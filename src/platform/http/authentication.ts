import type { FastifyReply, FastifyRequest } from 'fastify';
import { isInside } from './address.js';
import { callerOf, type ApiCaller } from './merchant-directory.js';
import { sendProblem, type HttpProblem } from './problem.js';
import { tooManyRequests, type CallerRateLimiter, type Usage } from './rate-limit.js';

/** How the requests of one API show which merchant sends them; the rest of the edge is the same for every API. */
export interface Authentication {
  /** Path of the API. Everything under it has to be authentic, unknown paths too. */
  readonly prefix: string;
  /** Its operations take their inputs from the query string, which therefore is part of what an Idempotency-Key covers. */
  readonly inputsInQuery?: boolean;
  /** Before the body is read: the merchant whom the request names; null when it was refused. Rejects when the directory is unavailable. */
  identify(request: FastifyRequest, reply: FastifyReply): Promise<ApiCaller | null>;
  /** With the body read: whether the merchant sent the request; false when the response was sent. Absent: nothing is left to verify. */
  verify?(request: FastifyRequest, reply: FastifyReply, merchant: ApiCaller): boolean;
}

/** The {@link Authentication} of every API. A module that serves one registers it in `onModuleInit`. */
export class Authentications {
  private readonly all: Authentication[] = [];

  register(authentication: Authentication): void {
    this.all.push(authentication);
  }

  /** Null for a path that is under no API: it is open. */
  of(path: string): Authentication | null {
    return this.all.find(({ prefix }) => path === prefix || path.startsWith(`${prefix}/`)) ?? null;
  }
}

export const SUSPENDED: HttpProblem = { status: 403, detail: 'The merchant is suspended' };
const addressNotAllowed = (of: string): HttpProblem => ({
  status: 403,
  detail: `The address is outside the IP allow-list of the ${of}`,
});

/** Lets an authentic request in or responds why not: 403 of contract.md 2, then 429. */
export class Admission {
  constructor(
    private readonly limiter: CallerRateLimiter,
    private readonly keyLimiter: CallerRateLimiter,
    private readonly now: () => number = Date.now,
  ) {}

  /** False when the response was sent. */
  async admit(request: FastifyRequest, reply: FastifyReply, merchant: ApiCaller): Promise<boolean> {
    const ofKey = merchant.callerId !== undefined;
    if (merchant.status === 'suspended') return refuse(reply, SUSPENDED);
    if (merchant.ipAllowList.length > 0 && !isInside(request.ip, merchant.ipAllowList)) {
      return refuse(reply, addressNotAllowed(ofKey ? 'API key' : 'merchant'));
    }
    const limiter = ofKey ? this.keyLimiter : this.limiter.withLimit(merchant.requestsPerMinute ?? null);
    const quota = await limiter.take(merchant.countedAs ?? callerOf(merchant));
    reply.header('ratelimit-policy', limiter.policy);
    reply.header('ratelimit', limiter.header(quota));
    return quota.allowed || refuse(reply, tooManyRequests(quota.resetsAt, this.now()));
  }

  /** What the merchant has used of its limit; `resetsAt`: epoch milliseconds, null while it has used nothing. */
  async usage({ merchantId, requestsPerMinute = null }: ApiCaller): Promise<Usage> {
    return this.limiter.withLimit(requestsPerMinute).usage(merchantId);
  }
}

function refuse(reply: FastifyReply, problem: HttpProblem): false {
  sendProblem(reply, problem);
  return false;
}
