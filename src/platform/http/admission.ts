import type { FastifyReply, FastifyRequest } from 'fastify';
import { isInside } from './address.js';
import { callerOf, type MerchantCredentials } from './merchant-directory.js';
import { sendProblem, type Problem } from './problem.js';
import { tooManyRequests, type CallerRateLimiter } from './rate-limit.js';

export const SUSPENDED: Problem = { status: 403, detail: 'The merchant is suspended' };
const addressNotAllowed = (of: string): Problem => ({
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
  async admit(request: FastifyRequest, reply: FastifyReply, merchant: MerchantCredentials): Promise<boolean> {
    const ofKey = merchant.callerId !== undefined;
    if (merchant.status === 'suspended') return refuse(reply, SUSPENDED);
    if (merchant.ipAllowList.length > 0 && !isInside(request.ip, merchant.ipAllowList)) {
      return refuse(reply, addressNotAllowed(ofKey ? 'API key' : 'merchant'));
    }
    const limiter = ofKey ? this.keyLimiter : this.limiter;
    const quota = await limiter.take(merchant.countedAs ?? callerOf(merchant));
    reply.header('ratelimit-policy', limiter.policy);
    reply.header('ratelimit', limiter.header(quota));
    return quota.allowed || refuse(reply, tooManyRequests(quota.resetsAt, this.now()));
  }
}

function refuse(reply: FastifyReply, problem: Problem): false {
  sendProblem(reply, problem);
  return false;
}
