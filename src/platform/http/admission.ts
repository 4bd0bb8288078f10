import type { FastifyReply, FastifyRequest } from 'fastify';
import { isInside } from './address.js';
import type { MerchantCredentials } from './merchant-directory.js';
import { sendProblem, type Problem } from './problem.js';
import { tooManyRequests, type MerchantRateLimiter } from './rate-limit.js';

export const SUSPENDED: Problem = { status: 403, detail: 'The merchant is suspended' };
const ADDRESS_NOT_ALLOWED: Problem = {
  status: 403,
  detail: "The address is outside the merchant's IP allow-list",
};

/** Lets an authentic request in or responds why not: 403 of contract.md 2, then 429. */
export class Admission {
  constructor(
    private readonly limiter: MerchantRateLimiter,
    private readonly now: () => number = Date.now,
  ) {}

  /** False when the response was sent. */
  async admit(request: FastifyRequest, reply: FastifyReply, merchant: MerchantCredentials): Promise<boolean> {
    if (merchant.status === 'suspended') return refuse(reply, SUSPENDED);
    if (merchant.ipAllowList.length > 0 && !isInside(request.ip, merchant.ipAllowList)) {
      return refuse(reply, ADDRESS_NOT_ALLOWED);
    }
    const quota = await this.limiter.take(merchant.merchantId);
    reply.header('ratelimit-policy', this.limiter.policy);
    reply.header('ratelimit', this.limiter.header(quota));
    return quota.allowed || refuse(reply, tooManyRequests(quota.resetsAt, this.now()));
  }
}

function refuse(reply: FastifyReply, problem: Problem): false {
  sendProblem(reply, problem);
  return false;
}
