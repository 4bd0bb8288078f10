import type { FastifyReply } from 'fastify';
import { DomainError, type DomainErrorCode, type FieldErrors } from '../../kernel/domain-error.js';
import { EventStoreUnavailable } from '../event-store/port.js';
import { isDatabaseUnavailable } from '../postgres/unavailable.js';

export const JSON_TYPE = 'application/json; charset=utf-8';
export const PROBLEM_TYPE = 'application/problem+json; charset=utf-8';

/** What is sent instead of a result (contract.md 3.1). */
export interface HttpProblem {
  readonly status: number;
  /** In place of the status's own. */
  readonly title?: string;
  /** Displayed to the merchant. */
  readonly detail: string;
  readonly errors?: FieldErrors;
  /** An Idempotency-Key does not keep it: see `DomainError.isTransient`. */
  readonly isTransient?: boolean;
  /** Members in addition to the standard ones, such as `string_to_sign_bytes`. */
  readonly members?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** For the request log alone, see `RequestState.stringToSign`. */
  readonly stringToSign?: string;
}

/** Thrown where only the edge has words for what is wrong. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  constructor(readonly problem: HttpProblem) {
    super(problem.detail);
  }
}

/** Thrown to end a request whose response was sent. */
export class ResponseSent extends Error {}

/** The one table from the domain's words to HTTP statuses (contract.md 3.3 to 3.8). */
export const STATUS_OF: Readonly<Record<DomainErrorCode, number>> = {
  bad_request: 400,
  forbidden: 403,
  not_found: 404,
  invalid_transition: 409,
  precondition_failed: 412,
  too_large: 413,
  validation_failed: 422,
  precondition_required: 428,
  rate_limited: 429,
  unavailable: 503,
};

/** Distinguishes a 503 that is expected at times from a fault of the program. */
export function isUnavailable(error: unknown): error is Error {
  if (error instanceof DomainError) return STATUS_OF[error.code] === 503;
  if (error instanceof Refusal) return error.problem.status === 503;
  return error instanceof EventStoreUnavailable || isDatabaseUnavailable(error);
}

const TITLES: Readonly<Record<number, string>> = {
  400: 'Bad request',
  401: 'Invalid request signature',
  403: 'Access forbidden',
  404: 'Resource not found',
  405: 'Method not allowed',
  408: 'Request timeout',
  409: 'Conflict',
  412: 'Precondition failed',
  413: 'Content too large',
  415: 'Unsupported media type',
  422: 'Invalid request parameters',
  428: 'Precondition required',
  429: 'Too many requests',
  431: 'Request header fields too large',
  500: 'Internal server error',
  503: 'Service unavailable',
};

export function titleOf(status: number): string {
  return TITLES[status] ?? (status < 500 ? 'Bad request' : 'Internal server error');
}

/** The problem document (contract.md 3.1) as JSON text. */
export function problemJson(problem: HttpProblem): string {
  return JSON.stringify({
    type: 'about:blank',
    title: problem.title ?? titleOf(problem.status),
    status: problem.status,
    detail: problem.detail,
    instance: null,
    errors: problem.errors ?? {},
    ...problem.members,
  });
}

/** Seconds after which a client may retry when a dependency is unavailable. */
export const RETRY_AFTER = '1';

export const UNAVAILABLE: HttpProblem = {
  status: 503,
  detail: 'The service is temporarily unavailable',
  headers: { 'retry-after': RETRY_AFTER },
};

export const BUSY: HttpProblem = {
  status: 503,
  detail: 'The service is busy: too many large requests and responses are in progress',
  headers: { 'retry-after': RETRY_AFTER },
};

export const TOO_MANY_PAGES: HttpProblem = {
  status: 429,
  detail: 'Too many lists are read at once: there is no memory for their responses',
  headers: { 'retry-after': RETRY_AFTER },
};

export const SUSPENDED: HttpProblem = { status: 403, detail: 'The merchant is suspended' };

/** Of HTTP/1.1 alone: Node's own response would have no problem details. */
export const HOST_REQUIRED: HttpProblem = { status: 400, detail: 'The Host header is required' };

export const HTTPS_REQUIRED: HttpProblem = { status: 403, detail: 'HTTPS is required' };

export const WRONG_MEDIA_TYPE: HttpProblem = {
  status: 415,
  detail: 'The content type must be application/json',
};

export const QUERY_NOT_UTF8: HttpProblem = {
  status: 400,
  detail: 'The query string must be percent-encoded UTF-8',
};

/** Sets the status and headers of the problem on the reply; returns the body to send. */
export function applyProblem(reply: FastifyReply, problem: HttpProblem): string {
  const { edge } = reply.request;
  edge.refusal = problem.detail;
  edge.stringToSign = problem.stringToSign ?? null;
  if (problem.headers !== undefined) reply.headers(problem.headers);
  reply.code(problem.status).header('content-type', PROBLEM_TYPE);
  return problemJson(problem);
}

export function sendProblem(reply: FastifyReply, problem: HttpProblem): FastifyReply {
  return reply.send(applyProblem(reply, problem));
}
