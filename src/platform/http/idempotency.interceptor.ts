import { createHash } from 'node:crypto';
import {
  Inject,
  Injectable,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { lastValueFrom, of } from 'rxjs';
import { IdempotencyKeyExpired } from '../../kernel/idempotency.js';
import { isUuid } from '../../kernel/ids.js';
import { AlreadyResponded } from '../event-store/command-loop-types.js';
import { EVENT_STORE, type EventStore, type StoredResponse } from '../event-store/port.js';
import { failpoint } from '../failpoints.js';
import { ResponseStore } from '../idempotency/response-store.js';
import { KeyedTicket } from '../idempotency/ticket.js';
import { STORED_WITH_EVENTS } from './decorators.js';
import { problemJson, Refusal, toProblem, UNAVAILABLE, type HttpProblem } from './problem.js';
import { Reply } from './reply.js';
import { MemoryBudget, parseBody, receiveUnread } from './request-body.js';
import { getRequest, rawPath, rawTarget, type RequestState } from './request-state.js';

const MALFORMED_KEY: HttpProblem = {
  status: 400,
  detail: 'Idempotency-Key must be a quoted uuid (RFC 9651 string)',
};
const IN_FLIGHT: HttpProblem = { status: 409, detail: 'A request with this Idempotency-Key is in flight' };
const KEY_REUSED: HttpProblem = { status: 422, detail: 'This Idempotency-Key was used for another request' };

/** The statuses of requests that were not executed, so that a repeat runs again (contract.md 4.4). */
const NOT_STORED = [401, 413, 429];
/** The statuses that depend on the current state. They are not stored, so a repeat runs again (ADR 22). */
const TRANSIENT = [403, 404, 409, 412, 428];

/**
 * Reads bodies, and runs a write under an Idempotency-Key once (contract.md 4). The commit detects a used key
 * if the route has `@StoresResponseWithEvents()` and the event store `carriesResponses`.
 */
@Injectable()
export class IdempotencyInterceptor implements NestInterceptor {
  constructor(
    private readonly responses: ResponseStore,
    @Inject(EVENT_STORE) private readonly events: Pick<EventStore, 'carriesResponses'>,
    private readonly memory: MemoryBudget,
  ) {}

  async intercept(context: ExecutionContext, next: CallHandler) {
    const request = getRequest(context);
    // Read first: the fingerprint of an Idempotency-Key covers the body.
    await receiveUnread(context, this.memory);
    const { method, edge, is404 } = request;
    const header = request.headers['idempotency-key'];
    const { idempotencyScope } = edge;
    const isWrite = method !== 'GET' && method !== 'HEAD' && !is404;
    if (idempotencyScope !== null && header !== undefined && isWrite)
      return this.respond(context, next, idempotencyScope, String(header));
    parseBody(request);
    return next.handle();
  }

  private async respond(context: ExecutionContext, next: CallHandler, scope: string, header: string) {
    const reply = context.switchToHttp().getResponse<FastifyReply>();
    const { request } = reply;
    const { edge, method } = request;
    const key = parseIdempotencyKey(header);
    if (key === null) throw new Refusal(MALFORMED_KEY);
    const path = edge.inputsInQuery ? rawTarget(request) : rawPath(request);
    const fingerprint = toFingerprint(method, path, edge.rawBody);
    const { inFlight, seal } = this.responses;
    const name = `${scope}:${key}`;
    const other = inFlight.get(name);
    if (other !== undefined) {
      edge.idempotency = other === fingerprint ? 'in_flight' : 'mismatch';
      throw new Refusal(other === fingerprint ? IN_FLIGHT : KEY_REUSED);
    }
    inFlight.set(name, fingerprint);
    edge.idempotency = 'fresh';
    const withEvents = Reflect.getMetadata(STORED_WITH_EVENTS, context.getHandler()) as
      { readonly inClear: boolean } | undefined;
    const ticket = new KeyedTicket({ scope, key, fingerprint }, seal, withEvents?.inClear);
    edge.ticket = ticket;
    try {
      const isDetected = this.events.carriesResponses && withEvents !== undefined;
      const earlier = isDetected ? null : await this.responses.find(scope, key);
      return of(earlier === null ? await this.run(ticket, reply, next) : this.replay(ticket, reply, earlier));
    } finally {
      inFlight.delete(name);
    }
  }

  /** Runs the handler. Throws its error unless the key already has a response to replay. */
  private async run(ticket: KeyedTicket, reply: FastifyReply, next: CallHandler): Promise<Reply> {
    let value: unknown;
    try {
      parseBody(reply.request);
      value = await valueUnder(ticket, next);
    } catch (error) {
      if (error instanceof AlreadyResponded) return this.replay(ticket, reply, error.response);
      const problem = toProblem(error);
      const earlier = await this.settle(ticket, problem.status, problemJson(problem), problem.isTransient);
      if (earlier === null) throw error;
      return this.replay(ticket, reply, earlier);
    }
    const sent = value instanceof Reply ? value : new Reply(reply.statusCode, toText(value));
    const earlier = await this.settle(ticket, sent.status, sent.body);
    return earlier === null ? sent : this.replay(ticket, reply, earlier);
  }

  /** Stores the response. Returns null, or the earlier response of the key, which must be sent instead. */
  private async settle(
    ticket: KeyedTicket,
    status: number,
    body: string,
    isTransient = false,
  ): Promise<StoredResponse | null> {
    failpoint('response.ready');
    if (status >= 500 || NOT_STORED.includes(status)) return null;
    const { scope, key } = ticket.request;
    // A concurrent request in another process may have stored the response.
    if (isTransient || TRANSIENT.includes(status)) return this.responses.find(scope, key);
    if (this.events.carriesResponses && ticket.hasCommitted(status, body)) return null;
    return this.responses.storeOrGet(ticket.toStored(status, body));
  }

  private replay(ticket: KeyedTicket, reply: FastifyReply, stored: StoredResponse): Reply {
    const { edge } = reply.request;
    if (stored.fingerprint !== ticket.request.fingerprint) {
      edge.idempotency = 'mismatch';
      throw new Refusal(KEY_REUSED);
    }
    const { status, body } = this.open(edge, stored);
    edge.idempotency = 'replayed';
    reply.header('idempotent-replayed', 'true');
    if (status >= 400) edge.refusal = (JSON.parse(body) as HttpProblem).detail;
    return new Reply(status, body);
  }

  private open(edge: RequestState, stored: StoredResponse): StoredResponse {
    try {
      return this.responses.seal.open(stored);
    } catch (error) {
      edge.failure = error;
      throw new Refusal(UNAVAILABLE);
    }
  }
}

/** Runs the handler. If the operation of the key has expired, runs the handler again with new ids. */
async function valueUnder(ticket: KeyedTicket, next: CallHandler): Promise<unknown> {
  for (; ; ticket.uses += 1) {
    try {
      return await lastValueFrom<unknown>(next.handle());
    } catch (error) {
      if (!(error instanceof IdempotencyKeyExpired)) throw error;
    }
  }
}

function toText(body: unknown): string {
  if (typeof body === 'string') return body;
  return body === undefined || body === null ? '' : JSON.stringify(body);
}

/** Returns the UUID in lower case, or null unless the header is a quoted UUID (contract.md 4.1, RFC 9651). */
export function parseIdempotencyKey(header: string): string | null {
  if (header.length !== 38 || header[0] !== '"' || header[37] !== '"') return null;
  const key = header.slice(1, 37);
  return isUuid(key) ? key.toLowerCase() : null;
}

/** Returns a hash that distinguishes different requests under one key. */
function toFingerprint(method: string, path: string, body: Buffer): string {
  return createHash('sha256').update(`${method}\n${path}\n`, 'utf8').update(body).digest('base64url');
}
