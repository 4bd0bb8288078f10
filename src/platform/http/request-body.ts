import type { IncomingMessage } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { DomainError } from '../../kernel/domain-error.js';
import { SMALL_BYTES } from './memory-budget.js';
import { BUSY, Refusal, type HttpProblem } from './problem.js';
import { NO_BODY } from './request-state.js';

/** Bodies of this many bytes and more are refused with 413 (contract.md 5.5). */
export const BODY_LIMIT = 1_048_576;

export const BODY_TOO_LARGE: HttpProblem = { status: 413, detail: tooLarge(BODY_LIMIT) };

/** What is said of bodies that are not below `limit` bytes. */
export function tooLarge(limit: number): string {
  return `The request body must be smaller than ${limit} bytes`;
}

type Done = (error: Error | null, body?: Buffer) => void;

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
 * Reads a body into memory that grows with what arrived, not with what is announced, and without an object per chunk, which
 * may have one byte. `room` is called before memory is allocated.
 */
export function readBody(
  payload: IncomingMessage,
  room: (bytes: number) => boolean,
  done: Done,
  limit = BODY_LIMIT,
): void {
  const announced = payload.headers['content-length'];
  const max = announced === undefined ? limit - 1 : Number(announced);
  let memory = NO_BODY;
  let length = 0;
  const end = (error: Error | null, body?: Buffer): void => {
    payload.off('data', onData).off('end', onEnd).off('error', onError);
    done(error, body);
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
  const onEnd = (): void => end(null, memory.subarray(0, length));
  // The client is gone: no error of ours.
  const onError = (error: Error): void => end(Object.assign(error, { statusCode: 400 }));
  payload.on('data', onData).on('end', onEnd).on('error', onError);
}

/** A client that waits for `100 Continue` sends its body now. */
export function sendContinue({ raw }: FastifyRequest, reply: FastifyReply): void {
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
