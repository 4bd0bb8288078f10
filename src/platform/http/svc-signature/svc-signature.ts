import type { FastifyReply, FastifyRequest } from 'fastify';
import { isUuid } from '../../../kernel/ids.js';
import type { Authentication } from '../authentication.js';
import type { MerchantCredentials, MerchantDirectory } from '../merchant-directory.js';
import { sendProblem, type Problem } from '../problem.js';
import { tooManyRequests } from '../rate-limit.js';
import { announcesTooMuch, BODY_TOO_LARGE, isLarge } from '../request-body.js';
import { rawPath } from '../request-state.js';
import { FailedSignatures, type Claim } from './failed-signatures.js';
import { prefersText, signatureMismatch } from './signature-mismatch.js';
import {
  INVALID_API_KEY,
  isFresh,
  isSignedBy,
  missingHeaders,
  signedPrefix,
  timestampDrift,
} from './signature.js';

/** The merchant API: every request is signed with `svc-api-key`, `svc-timestamp`, `svc-signature` (contract.md 2). */
export class SvcSignature implements Authentication {
  readonly prefix = '/merchants/v1';
  private readonly failures: FailedSignatures;

  constructor(
    private readonly directory: MerchantDirectory,
    private readonly now: () => number = Date.now,
  ) {
    this.failures = new FailedSignatures(now);
  }

  /** What comes from where signatures fail is refused here as well, when its body is large. */
  async recognise(request: FastifyRequest, reply: FastifyReply): Promise<MerchantCredentials | null> {
    const absent = absentHeaders(request);
    if (absent !== null) return refuse(reply, missingHeaders(absent));
    if (announcesTooMuch(request.raw)) return refuse(reply, BODY_TOO_LARGE);
    const apiKey = header(request, 'svc-api-key');
    const merchant = isUuid(apiKey) ? await this.directory.find(apiKey.toLowerCase()) : null;
    if (merchant === null) return refuse(reply, INVALID_API_KEY);
    const timestamp = header(request, 'svc-timestamp');
    const now = this.now();
    if (!isFresh(timestamp, now)) return refuse(reply, timestampDrift(timestamp, now));
    const claim = claimOf(request, merchant);
    // A small body costs little, and may show that its sender is the merchant, whoever fails from the same address.
    if (!isLarge(request.raw)) return merchant;
    if (!this.failures.isProven(claim)) await this.turn(request, reply, claim);
    const blockedUntil = this.failures.blockedUntil(claim);
    return blockedUntil === null ? merchant : refuse(reply, tooManyRequests(blockedUntil, now));
  }

  verify(request: FastifyRequest, reply: FastifyReply, merchant: MerchantCredentials): boolean {
    const { rawBody } = request.edge;
    const claim = claimOf(request, merchant);
    const signature = header(request, 'svc-signature');
    const prefix = signedPrefix(header(request, 'svc-timestamp'), request.method, rawPath(request));
    if (isSignedBy(merchant.privateKeys, signature, prefix, rawBody)) {
      this.failures.succeeded(claim);
      return true;
    }
    const blockedUntil = this.failures.failed(claim, rawBody.length);
    if (blockedUntil !== null) {
      refuse(reply, tooManyRequests(blockedUntil, this.now()));
      return false;
    }
    const asText = prefersText(request.headers.accept);
    const { contentType, payload } = signatureMismatch(signature, prefix, rawBody, asText);
    reply.code(401).header('content-type', contentType).send(payload);
    return false;
  }

  private async turn(request: FastifyRequest, reply: FastifyReply, claim: Claim): Promise<void> {
    await this.failures.turn(claim);
    const end = (): void => this.failures.turnEnded(claim);
    if (request.edge.over) end();
    else reply.raw.once('close', end);
  }
}

/** Names of the signing headers that the request lacks. */
function absentHeaders(request: FastifyRequest): readonly string[] | null {
  const { headers } = request.raw;
  if (headers['svc-api-key'] && headers['svc-timestamp'] && headers['svc-signature']) return null;
  return ['svc-api-key', 'svc-timestamp', 'svc-signature'].filter((name) => !headers[name]);
}

function header(request: FastifyRequest, name: string): string {
  const value = request.raw.headers[name];
  return typeof value === 'string' ? value : '';
}

function claimOf({ edge }: FastifyRequest, { merchantId }: MerchantCredentials): Claim {
  return { client: edge.client, merchantId };
}

function refuse(reply: FastifyReply, problem: Problem): null {
  sendProblem(reply, problem);
  return null;
}
