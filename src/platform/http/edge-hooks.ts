import type { IncomingMessage } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../config/config.js';
import { failpoint } from '../failpoints.js';
import type { Log } from '../telemetry/logger.js';
import { isTracing } from '../telemetry/tracing.js';
import { addressLimit, AddressRateLimiter, clientOf } from './address.js';
import type { Admission } from './admission.js';
import type { AnswerSeal } from '../idempotency/response-seal.js';
import { UNAVAILABLE } from './error-mapping.js';
import { dressReplay, refuseKey, sendReplay, type Idempotency } from '../idempotency/idempotency.js';
import type { MerchantCredentials } from './edge.js';
import { HTTPS_REQUIRED } from './https.js';
import { isJsonMediaType, parseJsonBody } from './json-body.js';
import { BUSY, BytesInHand } from './memory.js';
import { HOST_REQUIRED, type Problem, PROBLEM_TYPE, problemJson, sendProblem } from './problem.js';
import { tooManyRequests } from './rate-limit.js';
import { drainRefusedBody } from './refused-body.js';
import { announcesTooMuch, BODY_TOO_LARGE, hasBody, readBody } from './request-body.js';
import { recordRequest } from './request-log.js';
import { endRequestSpan, startRequestSpan } from './request-span.js';
import { isHealthPath, newRequestState, rawPath } from './request-state.js';
import { fingerprintOf, parseIdempotencyKey, RequestTicket } from '../idempotency/ticket.js';

/** Everything under it is signed, unknown paths too (contract.md 2.1). */
export const SIGNED_PREFIX = '/merchants/v1';

export function isSignedPath(path: string): boolean {
  return path === SIGNED_PREFIX || path.startsWith(`${SIGNED_PREFIX}/`);
}

const WRONG_MEDIA_TYPE: Problem = { status: 415, detail: 'The content type must be application/json' };
const MALFORMED_KEY: Problem = {
  status: 400,
  detail: 'Idempotency-Key must be a quoted uuid (RFC 9651 string)',
};

type Done = (error?: Error) => void;
type ReadDone = (error: Error | null) => void;
type SendDone = (error: Error | null, payload?: unknown) => void;

type EdgeConfig = Pick<
  Config,
  'rateLimitPerMinute' | 'rateLimitPerIpPerMinute' | 'requireHttps' | 'requestMemoryMib'
>;

/** What the hooks need of the application; it is there once the modules are initialized. */
export interface EdgeServices {
  readonly admission: Admission;
  readonly idempotency: Idempotency;
  readonly seal: AnswerSeal;
  readonly log: Log;
}

/**
 * The way of every request, as Fastify hooks: these cost a fraction of Nest's guards, pipes and interceptors.
 * `arrive` runs before the body is read, `admit` on signed routes once it is there, `parse` on the others,
 * `settle` before the answer is sent. Nothing is parsed before the signature over the raw bytes is checked.
 */
export class EdgeHooks {
  private readonly addresses: AddressRateLimiter;
  private readonly memory: BytesInHand;
  private readonly requireHttps: boolean;
  private services: EdgeServices | null = null;
  private draining = false;

  constructor(config: EdgeConfig) {
    this.addresses = new AddressRateLimiter(addressLimit(config));
    this.memory = new BytesInHand(config.requestMemoryMib << 20);
    this.requireHttps = config.requireHttps;
  }

  connect(services: EdgeServices): void {
    this.services = services;
  }

  /** From now on every answer ends its connection. */
  drain(): void {
    this.draining = true;
  }

  /** onRequest of every route. */
  readonly arrive = (request: FastifyRequest, reply: FastifyReply, done: Done): void => {
    const edge = newRequestState();
    request.edge = edge;
    edge.client = clientOf(request.ip);
    reply.raw.once('close', () => this.memory.release(edge));
    reply.header('request-id', request.id);
    if (request.raw.headers.host === undefined && request.raw.httpVersion === '1.1') {
      sendProblem(reply, HOST_REQUIRED);
      return;
    }
    if (this.requireHttps && request.protocol !== 'https' && !isHealthPath(request)) {
      sendProblem(reply, HTTPS_REQUIRED);
      return;
    }
    const blockedUntil = this.addresses.take(edge.client);
    if (blockedUntil !== null) sendProblem(reply, tooManyRequests(blockedUntil, Date.now()));
    else if (isTracing()) startRequestSpan(request, done);
    else done();
  };

  /** onRequest of a known route; of a signed one: what cannot be authentic is answered before its body is read. */
  arriveAt(route: string, signed: boolean) {
    return (request: FastifyRequest, reply: FastifyReply, done: Done): void => {
      request.edge.route = route;
      if (signed) {
        failpoint('request.received');
        this.recognise(request, reply, done);
      } else if (announcesTooMuch(request.raw)) sendProblem(reply, BODY_TOO_LARGE);
      else proceed(request, reply, done);
    };
  }

  /** onRequest of signed routes, and of unknown paths among them. */
  readonly recognise = (request: FastifyRequest, reply: FastifyReply, done: Done): void => {
    const { admission } = this.connected();
    admission.recognise(request, reply).then((merchant) => {
      if (merchant === null) return;
      request.edge.named = merchant;
      proceed(request, reply, done);
    }, done);
  };

  /** Parses nothing: the bytes are kept as they came. */
  readonly read = (request: FastifyRequest, payload: IncomingMessage, done: ReadDone): void => {
    const { edge } = request;
    readBody(
      payload,
      (bytes) => this.memory.takeBody(edge, bytes),
      (error, body) => {
        if (body !== undefined) edge.rawBody = body;
        done(error);
      },
    );
  };

  /** preValidation of signed routes. */
  readonly admit = (request: FastifyRequest, reply: FastifyReply, done: Done): void => {
    this.admitSigned(request, reply).then((admitted) => {
      if (admitted) done();
    }, done);
  };

  /** preValidation of unsigned routes. */
  readonly parse = (request: FastifyRequest, reply: FastifyReply, done: Done): void => {
    if (parseBody(request, reply)) done();
  };

  /** onSend of every route. */
  readonly settle = (
    request: FastifyRequest,
    reply: FastifyReply,
    payload: unknown,
    done: SendDone,
  ): void => {
    if (!request.raw.complete && hasBody(request.raw)) {
      // Who was not told to go on sends no body, and his next request must not be taken for it.
      if (request.raw.headers.expect === undefined) drainRefusedBody(request, reply);
      else reply.header('connection', 'close');
    }
    if (this.draining) reply.header('connection', 'close');
    const { edge } = request;
    if (edge?.ticket && edge.ticket.key !== null) {
      this.settleTicket(edge.ticket, request, reply, payload).then((final) => done(null, final), done);
    } else done(null, this.fitting(request, reply, payload));
  };

  /** onResponse of every route. */
  readonly sent = (request: FastifyRequest, reply: FastifyReply, done: Done): void => {
    // Of keyed requests alone: a health check must not set it off.
    if (request.edge.ticket) failpoint('answer.sent');
    if (request.edge.span !== undefined) endRequestSpan(request.edge.span, request, reply);
    if (this.services !== null) recordRequest(this.services.log, request, reply);
    done();
  };

  /** The payload, or 503 when it is too large for what responses may hold. What has written something is told its end. */
  private fitting(request: FastifyRequest, reply: FastifyReply, payload: unknown): unknown {
    if (typeof payload !== 'string' && !Buffer.isBuffer(payload)) return payload;
    const mustGo = request.method !== 'GET' && request.method !== 'HEAD';
    return this.memory.takeResponse(request.edge, payload.length, mustGo)
      ? payload
      : dressProblem(reply, BUSY);
  }

  /** What to send: the payload, the answer that stands already, or 503 when it cannot be made to stand. */
  private async settleTicket(
    ticket: RequestTicket,
    request: FastifyRequest,
    reply: FastifyReply,
    payload: unknown,
  ): Promise<unknown> {
    const { idempotency } = this.connected();
    try {
      if (request.edge.settled) return payload;
      request.edge.settled = true;
      failpoint('answer.ready');
      const body = typeof payload === 'string' || Buffer.isBuffer(payload) ? payload.toString() : '';
      const earlier = await idempotency.settle(ticket, reply.statusCode, body);
      return earlier === null ? payload : dressReplay(request, reply, earlier);
    } catch (error) {
      request.edge.failure = error;
      return dressProblem(reply, UNAVAILABLE);
    } finally {
      idempotency.leave(ticket);
    }
  }

  private connected(): EdgeServices {
    if (this.services === null)
      throw new Error('the edge serves requests only once the modules are initialized');
    return this.services;
  }

  private async admitSigned(request: FastifyRequest, reply: FastifyReply): Promise<boolean> {
    const { admission } = this.connected();
    const { named } = request.edge;
    if (named === null) throw new Error('a signed route is reached only by requests that name a merchant');
    const merchant = await admission.admit(request, reply, named);
    return merchant !== null && this.accept(request, reply, merchant);
  }

  private async accept(
    request: FastifyRequest,
    reply: FastifyReply,
    merchant: MerchantCredentials,
  ): Promise<boolean> {
    request.edge.merchant = merchant;
    failpoint('request.authenticated');
    return (await this.takeTicket(request, reply, merchant.merchantId)) && parseBody(request, reply);
  }

  /** False when the request was answered: a bad key, one under way, or an answer that stands already. */
  private async takeTicket(
    request: FastifyRequest,
    reply: FastifyReply,
    merchantId: string,
  ): Promise<boolean> {
    const header = request.headers['idempotency-key'];
    const { method, edge } = request;
    if (header === undefined || method === 'GET' || method === 'HEAD' || request.is404) return true;
    const key = parseIdempotencyKey(String(header));
    if (key === null) {
      sendProblem(reply, MALFORMED_KEY);
      return false;
    }
    const { idempotency, seal } = this.connected();
    const fingerprint = fingerprintOf(method, rawPath(request), edge.rawBody);
    const ticket = new RequestTicket(merchantId, key, fingerprint, seal);
    const taken = idempotency.enter(ticket);
    if (taken !== null) {
      refuseKey(request, reply, taken);
      return false;
    }
    edge.ticket = ticket;
    edge.idempotency = 'fresh';
    const decidedByCommit = idempotency.commitsCarryAnswers && request.routeOptions.config.answerTravels;
    return decidedByCommit || !(await this.replayed(request, reply, ticket));
  }

  private async replayed(
    request: FastifyRequest,
    reply: FastifyReply,
    ticket: RequestTicket,
  ): Promise<boolean> {
    const earlier = await this.connected().idempotency.earlier(ticket);
    if (earlier !== null) sendReplay(request, reply, earlier);
    return earlier !== null;
  }
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The answer goes along with the events (`@AnswerTravels()`): a repeat need not be looked up before it runs. */
    answerTravels?: boolean;
    /** The route parses its body itself (`@BodyAsBytes()`). */
    bodyAsBytes?: boolean;
  }
}

/** Puts the parsed body on the request; false when it was answered because of its media type. Throws DomainError. */
function parseBody(request: FastifyRequest, reply: FastifyReply): boolean {
  const { rawBody } = request.edge;
  if (rawBody.length === 0) return true;
  if (!isJsonMediaType(request.headers['content-type'])) {
    sendProblem(reply, WRONG_MEDIA_TYPE);
    return false;
  }
  request.body = request.routeOptions.config.bodyAsBytes ? rawBody : parseJsonBody(rawBody);
  return true;
}

function dressProblem(reply: FastifyReply, problem: Problem): string {
  reply
    .code(problem.status)
    .headers(problem.headers ?? {})
    .header('content-type', PROBLEM_TYPE);
  return problemJson(problem);
}

/** On with the request: a client that waits for the word sends its body now. */
function proceed(request: FastifyRequest, reply: FastifyReply, done: Done): void {
  if (request.raw.headers.expect !== undefined) {
    // HTTP/1.0 does not know the word, and would take it for the response.
    if (request.raw.httpVersion === '1.1') reply.raw.writeContinue();
    delete request.raw.headers.expect;
  }
  done();
}
