import { createHash } from 'node:crypto';
import {
  Inject,
  Injectable,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
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
import { parseBody } from './request-body.js';
import { rawPath, rawTarget, type RequestState } from './request-state.js';

const MALFORMED_KEY: HttpProblem = {
  status: 400,
  detail: 'Idempotency-Key must be a quoted uuid (RFC 9651 string)',
};
const IN_FLIGHT: HttpProblem = { status: 409, detail: 'A request with this Idempotency-Key is in flight' };
const KEY_REUSED: HttpProblem = { status: 422, detail: 'This Idempotency-Key was used for another request' };

/** The request was refused before it was read, or the service failed: a repeat runs again (contract.md 4.4). */
const NOT_STORED = [401, 413, 429];
/** The response depends on the present state and nothing was written: a repeat runs again (ADR 22). */
const TRANSIENT = [403, 404, 409, 412, 428];

/**
 * Writes under an Idempotency-Key run once (contract.md 4): a key in progress is refused, a stored response is replayed,
 * and a new response is stored. Either the commit of the events carries the response (`@StoresResponseWithEvents()`, on
 * stores that can) and detects that the key was used before; or the key is queried before the handler and the response
 * stored after it.
 */
@Injectable()
export class IdempotencyInterceptor implements NestInterceptor {
  constructor(
    private readonly responses: ResponseStore,
    @Inject(EVENT_STORE) private readonly events: Pick<EventStore, 'carriesResponses'>,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler) {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const { idempotencyScope } = request.edge;
    if (idempotencyScope === null) return next.handle();
    const { method } = request;
    const header = request.headers['idempotency-key'];
    if (header !== undefined && method !== 'GET' && method !== 'HEAD' && !request.is404)
      return this.respond(context, next, idempotencyScope, String(header));
    parseBody(request);
    return next.handle();
  }

  private async respond(context: ExecutionContext, next: CallHandler, scope: string, header: string) {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
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
    const withEvents = Reflect.getMetadata(STORED_WITH_EVENTS, context.getHandler()) as StoredWithEvents;
    const ticket = new KeyedTicket({ scope, key, fingerprint }, seal, withEvents?.inClear);
    edge.ticket = ticket;
    const reply = context.switchToHttp().getResponse<FastifyReply>();
    try {
      const isDetected = this.events.carriesResponses && withEvents !== undefined;
      const earlier = isDetected ? null : await this.responses.find(scope, key);
      return of(earlier === null ? await this.run(ticket, reply, next) : this.replay(ticket, reply, earlier));
    } finally {
      inFlight.delete(name);
    }
  }

  /** Runs the handler. Throws its error when that is the response of the key, and when it is none. */
  private async run(ticket: KeyedTicket, reply: FastifyReply, next: CallHandler): Promise<Reply> {
    let response: Reply;
    try {
      parseBody(reply.request);
      response = toReply(await valueUnder(ticket, next), reply.statusCode);
    } catch (error) {
      if (error instanceof AlreadyResponded) return this.replay(ticket, reply, error.response);
      const problem = toProblem(error);
      const earlier = await this.settle(ticket, problem.status, problemJson(problem), problem.isTransient);
      if (earlier === null) throw error;
      return this.replay(ticket, reply, earlier);
    }
    const earlier = await this.settle(ticket, response.status, response.body.toString());
    return earlier === null ? response : this.replay(ticket, reply, earlier);
  }

  /**
   * Makes a response about to be sent the response of its key. Returns the one that is stored: null for this one, otherwise
   * the earlier one, which must be sent instead.
   */
  private async settle(
    ticket: KeyedTicket,
    status: number,
    body: string,
    isTransient = false,
  ): Promise<StoredResponse | null> {
    failpoint('response.ready');
    if (status >= 500 || NOT_STORED.includes(status)) return null;
    const { scope, key } = ticket.request;
    // Two at once in two processes: the one that came too late gets the response of the other.
    if (isTransient || TRANSIENT.includes(status)) return this.responses.find(scope, key);
    if (this.events.carriesResponses && ticket.hasCommitted(status, body)) return null;
    return this.responses.storeOrGet(ticket.toStored(status, body));
  }

  /** Throws the refusal to give the response to another request. */
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

/** The metadata of `@StoresResponseWithEvents()`. */
type StoredWithEvents = { readonly inClear: boolean } | undefined;

/**
 * The handler's value. A key whose response is no longer kept ({@link IdempotencyKeyExpired}) is free again: the handler
 * runs under the next ids of the key, which a repeat finds again.
 */
async function valueUnder(ticket: KeyedTicket, next: CallHandler): Promise<unknown> {
  for (; ; ticket.uses += 1) {
    try {
      return await lastValueFrom<unknown>(next.handle());
    } catch (error) {
      if (!(error instanceof IdempotencyKeyExpired)) throw error;
    }
  }
}

function toReply(value: unknown, status: number): Reply {
  if (value instanceof Reply) return value;
  return new Reply(status, value === undefined || value === null ? '' : JSON.stringify(value));
}

/** The uuid in the header, lower-cased; null when it is not an RFC 9651 string that holds one (contract.md 4.1). */
export function parseIdempotencyKey(header: string): string | null {
  if (header.length !== 38 || header[0] !== '"' || header[37] !== '"') return null;
  const key = header.slice(1, 37);
  return isUuid(key) ? key.toLowerCase() : null;
}

/** Distinguishes operations under the same key: method, path as sent, and body. */
export function toFingerprint(method: string, path: string, body: Buffer): string {
  return createHash('sha256').update(`${method}\n${path}\n`, 'utf8').update(body).digest('base64url');
}
