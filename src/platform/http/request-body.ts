import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { SetMetadata, type ExecutionContext } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { parse } from 'secure-json-parse';
import { DomainError } from '../../kernel/domain-error.js';
import { isObject } from '../dto/field.js';
import { measureDepth } from '../json-text/json-text.js';
import { PAGE_BYTES } from '../postgres/list-page.js';
import { PORTAL_PAGE } from './listeners.js';
import { BUSY, Refusal, WRONG_MEDIA_TYPE } from './problem.js';
import { toCaller, NO_BODY, type RequestState } from './request-state.js';

/** The size in bytes from which a body is refused with 413 (contract.md 5.5). */
const BODY_LIMIT = 1_048_576;

/** The bytes that every request may hold, even above the MemoryBudget. */
export const SMALL_BYTES = 16_384;

/** The divisor of the MemoryBudget for one client, which may use a quarter. */
const SHARES = 4;
/** The timeout of the wait for a page's memory, and the interval of its retries. */
const PAGE_WAIT_MS = 5000;
const PAGE_RETRY_MS = 20;

/** The bound on the bytes of request bodies and pending responses, in this process and per client. */
export class MemoryBudget {
  private total = 0;
  private readonly held = new Map<string, number>();

  constructor(private readonly limit: number) {}

  reserveBody(edge: RequestState, bytes: number): boolean {
    if (edge.isReleased) return false;
    if (edge.bodyBytes + bytes > SMALL_BYTES && !this.fits(edge.client, bytes)) return false;
    edge.bodyBytes += bytes;
    this.add(edge.client, bytes);
    return true;
  }

  reserveResponse(edge: RequestState, bytes: number, isRequired: boolean): boolean {
    if (edge.isReleased) return true;
    const more = bytes - edge.responseBytes;
    if (bytes > SMALL_BYTES && !isRequired && !this.fits(toResponder(edge), more)) return false;
    this.add(toResponder(edge), more);
    edge.responseBytes = bytes;
    return true;
  }

  /** Reserves memory for a list before the read, to limit slow clients. Returns false after a timeout. */
  async reservePage(edge: RequestState): Promise<boolean> {
    const bytes = Math.min(PAGE_BYTES, this.limit / SHARES);
    const deadline = performance.now() + PAGE_WAIT_MS;
    while (!this.reserveResponse(edge, bytes, false)) {
      if (performance.now() > deadline) return false;
      await sleep(PAGE_RETRY_MS);
    }
    return true;
  }

  release(edge: RequestState): void {
    edge.isReleased = true;
    if (edge.bodyBytes > 0) this.add(edge.client, -edge.bodyBytes);
    if (edge.responseBytes > 0) this.add(toResponder(edge), -edge.responseBytes);
  }

  private fits(holder: string, bytes: number): boolean {
    const ofHolder = (this.held.get(holder) ?? 0) + bytes;
    return ofHolder <= this.limit / SHARES && this.total + bytes <= this.limit;
  }

  private add(holder: string, bytes: number): void {
    this.total += bytes;
    const left = (this.held.get(holder) ?? 0) + bytes;
    if (left === 0) this.held.delete(holder);
    else this.held.set(holder, left);
  }
}

function toResponder({ merchant, client }: RequestState): string {
  return merchant === null ? client : toCaller(merchant);
}

function hasBody({ headers }: IncomingMessage): boolean {
  const length = headers['content-length'];
  return headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}

export function requireSmaller({ headers }: IncomingMessage, limit = BODY_LIMIT): void {
  if (Number(headers['content-length'] ?? 0) >= limit) throw tooLarge(limit);
}

function tooLarge(limit: number): DomainError {
  return new DomainError('too_large', `The request body must be smaller than ${limit} bytes`);
}

/** Returns true for a body that may exceed SMALL_BYTES, also for a chunked body of unknown size. */
export function isLarge({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > SMALL_BYTES;
}

/** Reads a body into `edge.rawBody`. Throws 413 from `limit` bytes on, and 503 above the MemoryBudget. */
export async function receiveBody(
  request: FastifyRequest,
  reply: FastifyReply,
  memory: MemoryBudget,
  limit = BODY_LIMIT,
): Promise<void> {
  const { edge, raw } = request;
  requireSmaller(raw, limit);
  sendContinue(request, reply);
  if (hasBody(raw)) edge.rawBody = await readBody(raw, (bytes) => memory.reserveBody(edge, bytes), limit);
}

/** Reads a body into one buffer that grows with the received bytes. `room` reserves each growth. */
function readBody(
  payload: IncomingMessage,
  room: (bytes: number) => boolean,
  limit: number,
): Promise<Buffer> {
  const announced = payload.headers['content-length'];
  const max = announced === undefined ? limit - 1 : Number(announced);
  let memory = NO_BODY;
  let length = 0;
  return new Promise((resolve, reject) => {
    const end = (error: Error | null): void => {
      payload.off('data', onData).off('end', onEnd).off('error', onError);
      if (error === null) resolve(memory.subarray(0, length));
      else reject(error);
    };
    const onData = (chunk: Buffer): void => {
      const needed = length + chunk.length;
      if (needed >= limit) return end(tooLarge(limit));
      if (needed > memory.length) {
        const size = Math.min(max, Math.max(needed, SMALL_BYTES, 2 * memory.length));
        if (!room(size - memory.length)) return end(new Refusal(BUSY));
        const larger = Buffer.allocUnsafe(size);
        memory.copy(larger, 0, 0, length);
        memory = larger;
      }
      chunk.copy(memory, length);
      length = needed;
    };
    const onEnd = (): void => end(null);
    // The client is gone, which is no error of the service.
    const onError = (error: Error): void => end(Object.assign(error, { statusCode: 400 }));
    payload.on('data', onData).on('end', onEnd).on('error', onError);
  });
}

function sendContinue({ raw }: FastifyRequest, reply: FastifyReply): void {
  if (raw.headers.expect === undefined) return;
  // An HTTP/1.0 client would read `100 Continue` as the response.
  if (raw.httpVersion === '1.1') reply.raw.writeContinue();
  delete raw.headers.expect;
}

/** Discards the rest of a body. Closing a connection with unread bytes resets it and loses the response. */
export function settleBody(request: FastifyRequest, reply: FastifyReply): void {
  if (request.raw.complete || !hasBody(request.raw)) return;
  // A client that waits for `100 Continue` sends no body; its next request must not be read as the body.
  if (request.raw.headers.expect !== undefined) {
    reply.header('connection', 'close');
    return;
  }
  reply.removeHeader('connection');
  request.raw.resume();
}

/** The deepest nesting of a body: 32 levels of free-form JSON inside two wrappers. */
const MAX_DEPTH = 34;

/** The strict decoder, which drops a byte order mark. */
const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Parses a JSON body. Throws `bad_request`, or `validation_failed` if it is nested too deep. */
export function parseJsonBody(bytes: Buffer, maxDepth: number | null = MAX_DEPTH): unknown {
  const text = decode(bytes);
  if (maxDepth !== null && measureDepth(text) > maxDepth)
    throw new DomainError('validation_failed', `The request body is nested deeper than ${maxDepth} levels`);
  return parseText(text);
}

function decode(bytes: Buffer): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw new DomainError('bad_request', 'The request body is not valid UTF-8');
  }
}

function parseText(text: string): unknown {
  try {
    // secure-json-parse is slow. Both forbidden keys contain these letters, unless escaped.
    return text.includes('proto') || text.includes('\\u') ? parse(text) : JSON.parse(text);
  } catch (error) {
    const detail = (error as Error).message.startsWith('Object contains forbidden')
      ? 'holds a key that is not allowed (__proto__ or constructor.prototype)'
      : 'is not valid JSON';
    throw new DomainError('bad_request', `The request body ${detail}`);
  }
}

/** Parses the raw body into an unset `request.body`. Throws like parseJsonBody, or with 415. */
export function parseBody(request: FastifyRequest): void {
  const { rawBody } = request.edge;
  if (rawBody.length === 0 || (request.body ?? null) !== null) return;
  requireReadable(request.headers);
  request.body = request.routeOptions.config.bodyAsBytes ? rawBody : parseJsonBody(rawBody);
}

/** Accepts only unencoded UTF-8 JSON, otherwise throws with 415. A missing content type counts as JSON. */
function requireReadable(headers: IncomingHttpHeaders): void {
  const { 'content-type': contentType = 'application/json', 'content-encoding': encoding = '' } = headers;
  if (!/^[ \t,]*(identity[ \t,]*)*$/i.test(encoding)) {
    const detail = `The Content-Encoding ${encoding.slice(0, 64)} is not accepted: send the body without one`;
    throw new Refusal({ status: 415, detail, headers: { 'accept-encoding': 'identity' } });
  }
  const [type = '', ...parameters] = contentType.toLowerCase().split(';');
  const charset = parameters.map((each) => each.trim()).find((each) => each.startsWith('charset='));
  const utf8Charset = charset === undefined || /^charset="?utf-?8"?$/.test(charset);
  if (!utf8Charset || !/^application\/([a-z0-9.-]+\+)?json$/.test(type.trim()))
    throw new Refusal(WRONG_MEDIA_TYPE);
}

/** The size in bytes from which pages refuse a JSON body with 413. */
const PAGE_LIMIT = 16_384;

const BYTES_BELOW = 'bytes below';
/** Marks a route whose body is a Buffer of any media type and fewer bytes than `limit`. */
export const BytesBelow = (limit: number): MethodDecorator => SetMetadata(BYTES_BELOW, limit);

/** Reads and parses a body that no ApiGuard has read. It runs after the guards, which refuse strangers. */
export async function receiveUnread(context: ExecutionContext, memory: MemoryBudget): Promise<void> {
  const reply = context.switchToHttp().getResponse<FastifyReply>();
  const { request } = reply;
  const { page, merchant } = request.edge;
  if (request.is404 || (page === null ? merchant !== null : request.method === 'GET')) return;
  const bytes = Reflect.getMetadata(BYTES_BELOW, context.getHandler()) as number | undefined;
  const limit = bytes ?? (page === null ? BODY_LIMIT : PAGE_LIMIT);
  await receiveBody(request, reply, memory, limit);
  const { rawBody } = request.edge;
  if (bytes === undefined) parseBody(request);
  else request.body = rawBody;
  // An empty body of any content type is absent on the merchant routes that the portal shares.
  const isNone =
    rawBody.length === 0 && (page === PORTAL_PAGE || request.headers['content-type'] === undefined);
  if (page !== null && bytes === undefined && !isNone && !isObject(request.body))
    throw new DomainError('bad_request', 'The body must be a JSON object');
}
