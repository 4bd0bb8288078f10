import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isUuid } from '../../../kernel/ids.js';
import type { Authentication } from '../authentication.js';
import type { MerchantCredentials, MerchantDirectory } from '../merchant-directory.js';
import { PROBLEM_TYPE, problemJson, sendProblem, type Problem } from '../problem.js';
import { tooManyRequests } from '../rate-limit.js';
import { announcesTooMuch, BODY_TOO_LARGE, isLarge } from '../request-body.js';
import { rawPath } from '../request-state.js';
import { FailedSignatures, type SignatureSource } from './failed-signatures.js';
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
    const source = sourceOf(request, merchant);
    // A small body costs little, and may prove that its sender is the merchant while others fail from the same address.
    if (!isLarge(request.raw)) return merchant;
    if (!this.failures.isProven(source)) await this.awaitRead(request, reply, source);
    const blockedUntil = this.failures.blockedUntil(source);
    return blockedUntil === null ? merchant : refuse(reply, tooManyRequests(blockedUntil, now));
  }

  verify(request: FastifyRequest, reply: FastifyReply, merchant: MerchantCredentials): boolean {
    const { rawBody } = request.edge;
    const source = sourceOf(request, merchant);
    const signature = header(request, 'svc-signature');
    const prefix = signedPrefix(header(request, 'svc-timestamp'), request.method, rawPath(request));
    if (isSignedBy(merchant.privateKeys, signature, prefix, rawBody)) {
      this.failures.succeeded(source);
      return true;
    }
    const blockedUntil = this.failures.failed(source, rawBody.length);
    if (blockedUntil !== null) {
      refuse(reply, tooManyRequests(blockedUntil, this.now()));
      return false;
    }
    const asText = prefersText(request.headers.accept);
    const { contentType, payload } = signatureMismatch(signature, prefix, rawBody, asText);
    reply.code(401).header('content-type', contentType).send(payload);
    return false;
  }

  private async awaitRead(
    request: FastifyRequest,
    reply: FastifyReply,
    source: SignatureSource,
  ): Promise<void> {
    await this.failures.acquireRead(source);
    const end = (): void => this.failures.releaseRead(source);
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

function sourceOf({ edge }: FastifyRequest, { merchantId }: MerchantCredentials): SignatureSource {
  return { client: edge.client, merchantId };
}

function refuse(reply: FastifyReply, problem: Problem): null {
  sendProblem(reply, problem);
  return null;
}

const MISMATCH = 'svc-signature does not match the request';
const LOWER_CASE = `${MISMATCH}: it must be lower-case hex, and this one is upper-case`;
const LABEL = 'StringToSignBytes (hex, space-separated, lower-case):';

/** Signed bytes that become text at a time: a megabyte as integers is four, and no response holds more than a piece. */
const PIECE_BYTES = 16_384;

const COMMA = 0x2c;
const SPACE = 0x20;
const ZERO = 0x30;
const HEX = Buffer.from('0123456789abcdef');

/** The response to a wrong signature: its bytes as they are sent, in pieces. */
interface Mismatch {
  readonly contentType: string;
  readonly payload: string | Readable;
}

/** The bytes that the server signed, as an array of integers in a problem or, for `Accept: text/plain`, as hex. */
export function signatureMismatch(
  signature: string,
  prefix: string,
  body: Buffer,
  asText: boolean,
): Mismatch {
  const detail = /^[0-9A-F]{64}$/.test(signature) && /[A-F]/.test(signature) ? LOWER_CASE : MISMATCH;
  const signed = [Buffer.from(prefix, 'utf8'), body];
  const pieces = asText ? textPieces(detail, signed) : problemPieces(detail, signed);
  const small = body.length <= PIECE_BYTES;
  return {
    contentType: asText ? 'text/plain; charset=utf-8' : PROBLEM_TYPE,
    payload: small ? [...pieces].join('') : Readable.from(pieces, { objectMode: false }),
  };
}

function* problemPieces(detail: string, signed: readonly Buffer[]): Generator<string | Buffer> {
  const problem = problemJson({ status: 401, detail, members: { string_to_sign_bytes: [] } });
  yield problem.slice(0, -2);
  yield* joined(signed, writeInteger, COMMA);
  yield problem.slice(-2);
}

function* textPieces(detail: string, signed: readonly Buffer[]): Generator<string | Buffer> {
  yield `${detail}\n${LABEL}\n`;
  yield* joined(signed, writeHex, SPACE);
}

/** The bytes as text, with the separator between any two. */
function* joined(
  buffers: readonly Buffer[],
  write: (byte: number, text: Buffer, at: number) => number,
  separator: number,
): Generator<Buffer> {
  let first = true;
  for (const bytes of buffers) {
    for (let from = 0; from < bytes.length; from += PIECE_BYTES) {
      const piece = bytes.subarray(from, from + PIECE_BYTES);
      const text = Buffer.allocUnsafe(piece.length * 4);
      let at = 0;
      for (const byte of piece) {
        if (!first) text[at++] = separator;
        first = false;
        at = write(byte, text, at);
      }
      yield text.subarray(0, at);
    }
  }
}

function writeInteger(byte: number, text: Buffer, at: number): number {
  if (byte >= 100) text[at++] = ZERO + Math.floor(byte / 100);
  if (byte >= 10) text[at++] = ZERO + (Math.floor(byte / 10) % 10);
  text[at++] = ZERO + (byte % 10);
  return at;
}

function writeHex(byte: number, text: Buffer, at: number): number {
  text[at++] = HEX[byte >> 4]!;
  text[at++] = HEX[byte & 15]!;
  return at;
}

/** Whether the client would rather have text/plain than JSON: JSON wins a tie and is the default. */
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
