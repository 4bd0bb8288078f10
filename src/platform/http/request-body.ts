import type { IncomingMessage } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { DomainError } from '../../kernel/domain-error.js';
import { SMALL_BYTES, type MemoryBudget } from './memory-budget.js';
import { BUSY, Refusal, type HttpProblem } from './problem.js';
import { NO_BODY } from './request-state.js';

/** Bodies of this many bytes and more are refused with 413 (contract.md 5.5). */
const BODY_LIMIT = 1_048_576;

export const BODY_TOO_LARGE: HttpProblem = { status: 413, detail: tooLarge(BODY_LIMIT) };

/** What is said of bodies that are not below `limit` bytes. */
function tooLarge(limit: number): string {
  return `The request body must be smaller than ${limit} bytes`;
}

function hasBody({ headers }: IncomingMessage): boolean {
  const length = headers['content-length'];
  return headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}

/** Whether the headers declare a body that is too large. */
export function isDeclaredTooLarge({ headers }: IncomingMessage, limit = BODY_LIMIT): boolean {
  return Number(headers['content-length'] ?? 0) >= limit;
}

/** Whether the body may be more than a small one. */
export function isLarge({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > SMALL_BYTES;
}

/**
 * Reads the body of a request whose sender may send one, into `edge.rawBody`. Throws DomainError `too_large` (413) for a body
 * that is not below `limit` bytes, and {@link Refusal} (503) where there is no memory for it.
 */
export async function receiveBody(
  request: FastifyRequest,
  reply: FastifyReply,
  memory: MemoryBudget,
  limit = BODY_LIMIT,
): Promise<void> {
  const { edge, raw } = request;
  if (isDeclaredTooLarge(raw, limit)) throw new DomainError('too_large', tooLarge(limit));
  sendContinue(request, reply);
  if (hasBody(raw)) edge.rawBody = await readBody(raw, (bytes) => memory.reserveBody(edge, bytes), limit);
}

/**
 * Reads a body into memory that grows with what arrived, not with what is announced, and without an object per chunk, which
 * may have one byte. `room` is called before memory is allocated.
 */
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
      if (needed >= limit) return end(new DomainError('too_large', tooLarge(limit)));
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
    // The client is gone: no error of ours.
    const onError = (error: Error): void => end(Object.assign(error, { statusCode: 400 }));
    payload.on('data', onData).on('end', onEnd).on('error', onError);
  });
}

/** A client that waits for `100 Continue` sends its body now. */
function sendContinue({ raw }: FastifyRequest, reply: FastifyReply): void {
  if (raw.headers.expect === undefined) return;
  // HTTP/1.0 would read `100 Continue` as the response.
  if (raw.httpVersion === '1.1') reply.raw.writeContinue();
  delete raw.headers.expect;
}

/**
 * Before a response is sent: reads a body to its end. Closing a connection with unread bytes resets it, and a client that
 * is still sending would get the reset instead of the response.
 */
export function settleBody(request: FastifyRequest, reply: FastifyReply): void {
  if (request.raw.complete || !hasBody(request.raw)) return;
  // A client without `100 Continue` sends no body, and its next request must not be read as one.
  if (request.raw.headers.expect !== undefined) {
    reply.header('connection', 'close');
    return;
  }
  reply.removeHeader('connection');
  request.raw.resume();
}
