import type { FastifyReply, FastifyRequest } from 'fastify';
import { isUuid } from '../../kernel/ids.js';
import { isInside } from './address.js';
import type { MerchantCredentials, MerchantDirectory } from './edge.js';
import { PROBLEM_TYPE, problemJson, sendProblem, type Problem } from './problem.js';
import { tooManyRequests, type MerchantRateLimiter } from './rate-limit.js';
import { rawPath } from './request-state.js';
import {
  INVALID_API_KEY,
  isFresh,
  isSignedBy,
  missingHeaders,
  prefersText,
  signatureMismatch,
  signatureMismatchText,
  signedPrefix,
  TIMESTAMP_DRIFT,
} from './signature.js';

export const SUSPENDED: Problem = { status: 403, detail: 'The merchant is suspended' };
const ADDRESS_NOT_ALLOWED: Problem = {
  status: 403,
  detail: "The address is outside the merchant's IP allow-list",
};

/** Names of the signing headers that the request lacks. */
export function absentHeaders(request: FastifyRequest): readonly string[] | null {
  const { headers } = request.raw;
  if (headers['svc-api-key'] && headers['svc-timestamp'] && headers['svc-signature']) return null;
  return ['svc-api-key', 'svc-timestamp', 'svc-signature'].filter((name) => !headers[name]);
}

function header(request: FastifyRequest, name: string): string {
  const value = request.raw.headers[name];
  return typeof value === 'string' ? value : '';
}

/** Lets a signed request in or answers why not: 401 and 403 of merchant-api sections 5 and 7, then 429. */
export class Admission {
  constructor(
    private readonly directory: MerchantDirectory,
    private readonly limiter: MerchantRateLimiter,
    private readonly now: () => number = Date.now,
  ) {}

  /** The merchant behind the request; null when it was answered. Rejects when the directory is away. */
  async admit(request: FastifyRequest, reply: FastifyReply): Promise<MerchantCredentials | null> {
    const merchant = await this.authenticate(request, reply);
    if (merchant === null) return null;
    if (merchant.status === 'suspended') return refuse(reply, SUSPENDED);
    if (merchant.ipAllowList.length > 0 && !isInside(request.ip, merchant.ipAllowList)) {
      return refuse(reply, ADDRESS_NOT_ALLOWED);
    }
    const quota = await this.limiter.take(merchant.merchantId);
    reply.header('ratelimit-policy', this.limiter.policy);
    reply.header('ratelimit', this.limiter.header(quota));
    return quota.allowed ? merchant : refuse(reply, tooManyRequests(quota.resetsAt, this.now()));
  }

  private async authenticate(
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<MerchantCredentials | null> {
    const absent = absentHeaders(request);
    if (absent !== null) return refuse(reply, missingHeaders(absent));
    const apiKey = header(request, 'svc-api-key');
    const merchant = isUuid(apiKey) ? await this.directory.find(apiKey.toLowerCase()) : null;
    if (merchant === null) return refuse(reply, INVALID_API_KEY);
    const timestamp = header(request, 'svc-timestamp');
    if (!isFresh(timestamp, this.now())) return refuse(reply, TIMESTAMP_DRIFT);
    const prefix = signedPrefix(timestamp, request.method, rawPath(request));
    const { rawBody } = request.edge;
    if (isSignedBy(merchant.privateKeys, header(request, 'svc-signature'), prefix, rawBody)) return merchant;
    return refuseSignature(request, reply, prefix);
  }
}

function refuse(reply: FastifyReply, problem: Problem): null {
  sendProblem(reply, problem);
  return null;
}

function refuseSignature(request: FastifyRequest, reply: FastifyReply, prefix: string): null {
  const { rawBody } = request.edge;
  reply.code(401);
  if (prefersText(request.headers.accept)) {
    reply.header('content-type', 'text/plain; charset=utf-8').send(signatureMismatchText(prefix, rawBody));
  } else {
    reply.header('content-type', PROBLEM_TYPE).send(problemJson(signatureMismatch(prefix, rawBody)));
  }
  return null;
}
