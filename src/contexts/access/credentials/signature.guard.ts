import { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { upTo } from '../../../platform/cache-size.js';
import { ApiGuard, bodyDigest, signerAmong } from '../../../platform/http/api.guard.js';
import { MerchantDirectory, type ApiCaller } from '../../../platform/http/merchant-directory.js';
import {
  type HttpProblem,
  PROBLEM_TYPE,
  problemJson,
  Refusal,
  ResponseSent,
} from '../../../platform/http/problem.js';
import { LocalRateLimiter, refuseUntil } from '../../../platform/http/rate-limit.guard.js';
import { isLarge, MemoryBudget, requireSmaller } from '../../../platform/http/request-body.js';
import { rawPath } from '../../../platform/http/request-state.js';
import { ApiProperty } from '../../../platform/dto/field.js';
import { BODY, type ApiScheme } from '../../../platform/openapi/document.js';
import { ProblemDetails, problemResponse } from '../../../platform/openapi/route.js';

/** The maximum difference between `svc-timestamp` and server time (contract.md 2.4). */
const MAX_DRIFT_SECONDS = 300;
const UNIX_SECONDS = /^[0-9]{1,12}$/;
const HEADERS = ['svc-api-key', 'svc-timestamp', 'svc-signature'];
const INVALID_API_KEY: HttpProblem = { status: 401, detail: 'Invalid svc-api-key' };

const MAX_SIGNERS = 50_000;

/** The body bytes per rate limit point of a failure, whose response is four times as large as the body. */
const BYTES_PER_POINT = 16_384;
/** The points per minute and address: 300 failures without a body, or four with a megabyte. */
const MAX_PER_ADDRESS = 300;

/**
 * Verifies signatures of the merchant API (contract.md 2) and limits failures per address and process. Above
 * the limit, a wrong signature gets 429 instead of the signed bytes, and large bodies are refused unread. A
 * merchant that has signed from the address may still send large bodies. Otherwise a stranger with its public
 * API key could lock the merchant out.
 */
@Injectable()
export class SignatureGuard extends ApiGuard {
  private readonly failures = new LocalRateLimiter(MAX_PER_ADDRESS);
  private readonly signers = new LRUCache<string, true>(upTo(MAX_SIGNERS));

  constructor(
    private readonly directory: MerchantDirectory,
    memory: MemoryBudget,
  ) {
    super('/merchants/v1', memory);
  }

  override async identify(request: FastifyRequest): Promise<ApiCaller> {
    const { edge } = request;
    const absent = HEADERS.filter((name) => !request.raw.headers[name]);
    if (absent.length > 0)
      throw new Refusal({ status: 401, detail: `Missing required headers: ${absent.join(', ')}` });
    requireSmaller(request.raw);
    const apiKey = header(request, 'svc-api-key');
    const merchant = await this.directory.find(apiKey);
    if (merchant === null) throw new Refusal(INVALID_API_KEY);
    edge.identifiedMerchant = merchant;
    const timestamp = header(request, 'svc-timestamp');
    const now = Date.now();
    if (!isFresh(timestamp, now)) throw new Refusal(timestampDrift(timestamp, now));
    // A small body is cheap to verify, and may come from the merchant while strangers at its address fail.
    if (isLarge(request.raw) && !this.signers.has(toSource(request, merchant)))
      refuseUntil(this.failures.blockedUntil(edge.client), now);
    return merchant;
  }

  override verify(request: FastifyRequest, reply: FastifyReply, merchant: ApiCaller): void {
    const { rawBody, client } = request.edge;
    const signature = header(request, 'svc-signature');
    const prefix = signedPrefix(header(request, 'svc-timestamp'), request.method, rawPath(request));
    const signer = signerAmong(merchant.privateKeys, signature, prefix, rawBody);
    if (signer >= 0) {
      this.signers.set(toSource(request, merchant), true);
      request.edge.credentialId = merchant.privateKeyIds?.[signer] ?? null;
      return;
    }
    const points = 1 + Math.floor(rawBody.length / BYTES_PER_POINT);
    refuseUntil(this.failures.take(client, points), Date.now());
    const asText = prefersText(request.headers.accept);
    const { detail, contentType, payload } = signatureMismatch(signature, prefix, rawBody, asText);
    request.edge.refusal = detail;
    request.edge.stringToSign = prefix + bodyDigest(rawBody);
    reply.code(401).header('content-type', contentType).send(payload);
    throw new ResponseSent();
  }
}

function header(request: FastifyRequest, name: string): string {
  const value = request.raw.headers[name];
  return typeof value === 'string' ? value : '';
}

function toSource({ edge }: FastifyRequest, { merchantId }: ApiCaller): string {
  return `${edge.client} ${merchantId}`;
}

/** Returns the signed text before the body: timestamp, method and path, each with LF (contract.md 2.2). */
export function signedPrefix(timestamp: string, method: string, path: string): string {
  return `${timestamp}\n${method}\n${path}\n`;
}

export function isFresh(timestamp: string, now: number): boolean {
  if (!UNIX_SECONDS.test(timestamp)) return false;
  return Math.abs(Math.floor(now / 1000) - Number(timestamp)) <= MAX_DRIFT_SECONDS;
}

export function timestampDrift(timestamp: string, now: number): HttpProblem {
  const serverTime = Math.floor(now / 1000);
  const detail = `svc-timestamp must be Unix seconds within 5 minutes of server time, which is ${serverTime}`;
  const inMilliseconds = /^[0-9]{13}$/.test(timestamp) && isFresh(timestamp.slice(0, -3), now);
  return { status: 401, detail: inMilliseconds ? `${detail}; it was sent in milliseconds` : detail };
}

const MISMATCH = 'svc-signature does not match the request';
const LOWER_CASE = `${MISMATCH}: it must be lower-case hex, and this one is upper-case`;
const LABEL = 'StringToSignBytes (hex, space-separated, lower-case):';

/** The number of bytes converted to text at a time, which bounds the memory of a response. */
const PIECE_BYTES = 16_384;

/** Returns a 401 response with the signed bytes: integers in JSON, or hex in text if `asText` is true. */
export function signatureMismatch(signature: string, prefix: string, body: Buffer, asText: boolean) {
  const detail = /^[0-9A-F]{64}$/.test(signature) && /[A-F]/.test(signature) ? LOWER_CASE : MISMATCH;
  const pieces = asText ? textPieces(detail, prefix, body) : problemPieces(detail, prefix, body);
  return {
    detail,
    contentType: asText ? 'text/plain; charset=utf-8' : PROBLEM_TYPE,
    payload: body.length <= PIECE_BYTES ? [...pieces].join('') : Readable.from(pieces, { objectMode: false }),
  };
}

function* problemPieces(detail: string, prefix: string, body: Buffer): Generator<string> {
  const problem = problemJson({ status: 401, detail, members: { string_to_sign_bytes: [] } });
  yield problem.slice(0, -2);
  yield* joined(prefix, body, ',', (piece) => piece.join());
  yield problem.slice(-2);
}

function* textPieces(detail: string, prefix: string, body: Buffer): Generator<string> {
  yield `${detail}\n${LABEL}\n`;
  yield* joined(prefix, body, ' ', (piece) => piece.toString('hex').replaceAll(/..(?=.)/g, '$& '));
}

function* joined(prefix: string, body: Buffer, separator: string, write: (piece: Buffer) => string) {
  yield write(Buffer.from(prefix, 'utf8'));
  for (let from = 0; from < body.length; from += PIECE_BYTES)
    yield separator + write(body.subarray(from, from + PIECE_BYTES));
}

/** Returns true if `Accept` prefers text to JSON; false without the header and on a tie. */
export function prefersText(accept: string | undefined): boolean {
  if (accept === undefined || !/text\//i.test(accept)) return false;
  let text = 0;
  let json = 0;
  for (const part of accept.split(',')) {
    const [type = '', ...parameters] = part.split(';').map((each) => each.trim().toLowerCase());
    const weight = parameters.find((each) => each.startsWith('q='));
    const quality = weight === undefined ? 1 : Number(weight.slice(2)) || 0;
    if (type === 'text/plain' || type === 'text/*') text = Math.max(text, quality);
    if (/^application\/(json|problem\+json|\*)$/.test(type)) json = Math.max(json, quality);
  }
  return text > json;
}

class SignatureProblem extends ProblemDetails {
  @ApiProperty({ const: 'Invalid request signature' }) title!: string;
  @ApiProperty({ const: 401 }) status!: number;

  @ApiProperty({
    type: 'array',
    description: 'The bytes that the server signed; only when the signature did not match.',
    items: { type: 'integer', minimum: 0, maximum: 255 },
    required: false,
  })
  string_to_sign_bytes?: number[];
}

const securityHeader = (name: string, description: string) => ({
  type: 'apiKey',
  in: 'header',
  name,
  description,
});
export const merchantScheme: ApiScheme = {
  prefix: '/merchants/v1/',
  models: [SignatureProblem],
  statuses: { ...BODY, 401: 'Unauthorized', 403: 'Forbidden', 503: 'Unavailable' },
  writeStatuses: { 409: 'Conflict', 422: 'Invalid' },
  responses: {
    Unauthorized: {
      description:
        'A signing header is missing, the api key is unknown, the time is off, or the signature differs.',
      content: {
        'application/problem+json': { schema: { $ref: '#/components/schemas/SignatureProblem' } },
        'text/plain': { schema: { type: 'string' } },
      },
    },
    Forbidden: problemResponse('The merchant is suspended, or calls from an address outside its allow-list.'),
  },
  securitySchemes: {
    apiKey: securityHeader('svc-api-key', 'The public id of the merchant, a uuid.'),
    timestamp: securityHeader('svc-timestamp', 'Unix seconds, within 5 minutes of server time.'),
    signature: securityHeader('svc-signature', 'Lower-case hex HMAC-SHA256; see above.'),
  },
};
