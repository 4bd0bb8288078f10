import { Catch, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AlreadyResponded } from '../event-store/command-loop.js';
import { toProblem } from './error-mapping.js';
import { sendReplay } from './keyed-requests.js';
import { sendProblem } from './problem.js';

/** Responds to whatever was thrown, wherever: handler, hook or framework. */
export function sendError(request: FastifyRequest, reply: FastifyReply, error: unknown): void {
  if (reply.sent) return;
  if (error instanceof AlreadyResponded) {
    sendReplay(request, reply, error.response);
    return;
  }
  const problem = toProblem(error);
  if (problem.status >= 500) request.edge.failure = error;
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
