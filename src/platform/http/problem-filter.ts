import { Catch, HttpException, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { DomainError } from '../../kernel/domain-error.js';
import { acceptsHtml, sendRefusedPage } from './pages/document.js';
import { localeOf } from './pages/locale.js';
import {
  WRONG_MEDIA_TYPE,
  isUnavailable,
  Refusal,
  ResponseSent,
  RETRY_AFTER,
  sendProblem,
  STATUS_OF,
  titleOf,
  UNAVAILABLE,
  type HttpProblem,
} from './problem.js';
import { BODY_TOO_LARGE } from './request-body.js';

/** Responds to an error of a handler, a hook or the framework. */
export function sendError(request: FastifyRequest, reply: FastifyReply, error: unknown): void {
  if (reply.sent || error instanceof ResponseSent) return;
  const problem = toProblem(error);
  if (problem.status >= 500) request.edge.failure ??= error;
  sendRefusal(request, reply, problem);
}

/** Sends a document to people who navigate on a page, problem details to everybody else; no site may frame either. */
export function sendRefusal(request: FastifyRequest, reply: FastifyReply, problem: HttpProblem): void {
  const { page } = request.edge;
  if (page !== null && acceptsHtml(request)) return sendRefusedPage(reply, page, problem, localeOf(request));
  if (page !== null) reply.header('content-security-policy', "default-src 'none'; frame-ancestors 'none'");
  sendProblem(reply, problem);
}

/** The exception filter of the whole application. */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    sendError(http.getRequest<FastifyRequest>(), http.getResponse<FastifyReply>(), error);
  }
}

const UNEXPECTED: HttpProblem = { status: 500, detail: 'An unexpected error occurred' };

/** What Fastify reports before a handler runs, in words for the merchant. */
const FRAMEWORK_DETAILS: Readonly<Record<string, string>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: BODY_TOO_LARGE.detail,
  FST_ERR_CTP_INVALID_MEDIA_TYPE: WRONG_MEDIA_TYPE.detail,
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'The request body does not match its Content-Length',
  FST_ERR_BAD_URL: 'The request path is malformed',
};

function codeOf(error: object): string | undefined {
  return 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** Any thrown value as a problem. Unexpected errors reveal nothing internal. */
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
  if (error instanceof HttpException && error.getStatus() < 500) {
    return { status: error.getStatus(), detail: error.message };
  }
  return fromFramework(error) ?? UNEXPECTED;
}

function fromFramework(error: unknown): HttpProblem | undefined {
  if (!(error instanceof Error) || !('statusCode' in error)) return undefined;
  const status = error.statusCode;
  if (typeof status !== 'number' || status < 400 || status >= 500) return undefined;
  const code = codeOf(error);
  const known = code === undefined ? undefined : FRAMEWORK_DETAILS[code];
  return { status, detail: known ?? titleOf(status) };
}
