import { HttpException } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { DomainError, type DomainErrorCode, type FieldErrors } from '../../kernel/domain-error.js';
import { EventStoreUnavailable } from '../event-store/port.js';
import { isDatabaseUnavailable } from '../postgres/unavailable.js';

export const JSON_TYPE = 'application/json; charset=utf-8';
export const PROBLEM_TYPE = 'application/problem+json; charset=utf-8';

/** The problem details of a refused request (contract.md 3.1). */
export interface HttpProblem {
  readonly status: number;
  /** The title, if it differs from the default of the status. */
  readonly title?: string;
  readonly detail: string;
  readonly errors?: FieldErrors;
  /** True if the problem must not be stored under an Idempotency-Key, because a repeat may succeed. */
  readonly isTransient?: boolean;
  /** Additional members, such as `string_to_sign_bytes`. */
  readonly members?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** The text that a wrong signature should have covered, only for the request log. */
  readonly stringToSign?: string;
}

export class Refusal extends Error {
  override readonly name = 'Refusal';
  constructor(readonly problem: HttpProblem) {
    super(problem.detail);
  }
}

/** Ends a request whose response is already sent. */
export class ResponseSent extends Error {}

/** The HTTP statuses of domain errors (contract.md 3.3 to 3.8). */
const STATUS_OF: Readonly<Record<DomainErrorCode, number>> = {
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

/** Checks that an error means 503, because a dependency failed and not the program. */
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

export function toTitle(status: number): string {
  return TITLES[status] ?? (status < 500 ? 'Bad request' : 'Internal server error');
}

export function problemJson(problem: HttpProblem): string {
  return JSON.stringify({
    type: 'about:blank',
    title: problem.title ?? toTitle(problem.status),
    status: problem.status,
    detail: problem.detail,
    instance: null,
    errors: problem.errors ?? {},
    ...problem.members,
  });
}

/** The `Retry-After` of a 503 in seconds. */
const RETRY_AFTER = '1';

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

export const HTTPS_REQUIRED: HttpProblem = { status: 403, detail: 'HTTPS is required' };

export const WRONG_MEDIA_TYPE: HttpProblem = {
  status: 415,
  detail: 'The content type must be application/json',
};

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

const UNEXPECTED: HttpProblem = { status: 500, detail: 'An unexpected error occurred' };

const FRAMEWORK_DETAILS: Readonly<Record<string, string>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: WRONG_MEDIA_TYPE.detail,
  FST_ERR_BAD_URL: 'The request path is malformed',
};

/** Converts a thrown value to a problem, which reveals nothing internal for an unexpected error. */
export function toProblem(error: unknown): HttpProblem {
  if (error instanceof DomainError) {
    const status = STATUS_OF[error.code];
    const { message: detail, fields: errors, isTransient } = error;
    const problem = { status, detail, errors, isTransient };
    const retryAfter = error.retryAfterSeconds?.toString() ?? (status === 503 ? RETRY_AFTER : undefined);
    return retryAfter === undefined ? problem : { ...problem, headers: { 'retry-after': retryAfter } };
  }
  if (error instanceof Refusal) return error.problem;
  if (isUnavailable(error)) return UNAVAILABLE;
  if (error instanceof HttpException && error.getStatus() < 500)
    return { status: error.getStatus(), detail: error.message };
  return fromFramework(error) ?? UNEXPECTED;
}

function fromFramework(error: unknown): HttpProblem | undefined {
  if (!(error instanceof Error)) return undefined;
  const { statusCode: status, code } = error as Error & { statusCode?: unknown; code?: unknown };
  if (typeof status !== 'number' || status < 400 || status >= 500) return undefined;
  return { status, detail: FRAMEWORK_DETAILS[String(code)] ?? toTitle(status) };
}
