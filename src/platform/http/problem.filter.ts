import { Catch, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { acceptsHtml, sendRefusedPage } from './pages/document.js';
import { readLocale } from './pages/locale.js';
import { ResponseSent, sendProblem, toProblem, type HttpProblem } from './problem.js';

export function sendError(request: FastifyRequest, reply: FastifyReply, error: unknown): void {
  if (reply.sent || error instanceof ResponseSent) return;
  const problem = toProblem(error);
  if (problem.status >= 500) request.edge.failure ??= error;
  sendRefusal(request, reply, problem);
}

/** Sends a refusal as HTML to a browser that opens a page, else as problem details. No site may embed it. */
export function sendRefusal(request: FastifyRequest, reply: FastifyReply, problem: HttpProblem): void {
  const { page } = request.edge;
  if (page !== null && acceptsHtml(request))
    return sendRefusedPage(reply, page, problem, readLocale(request));
  if (page !== null) reply.header('content-security-policy', "default-src 'none'; frame-ancestors 'none'");
  sendProblem(reply, problem);
}

@Catch()
export class ProblemFilter implements ExceptionFilter {
  catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    sendError(http.getRequest<FastifyRequest>(), http.getResponse<FastifyReply>(), error);
  }
}
