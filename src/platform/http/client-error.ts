import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { problemJson, titleOf, type Problem } from './problem.js';

function problemOf(error: NodeJS.ErrnoException): Problem {
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return { status: 408, detail: 'The request did not arrive in time' };
  }
  if (error.code === 'HPE_HEADER_OVERFLOW')
    return { status: 431, detail: 'The request headers are too large' };
  return { status: 400, detail: 'The request is not valid HTTP' };
}

/** Answers bytes that never became a request: there is no reply object yet, only the socket. */
export function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const problem = problemOf(error);
  const body = problemJson(problem);
  const head = [
    `HTTP/1.1 ${problem.status} ${titleOf(problem.status)}`,
    'Connection: close',
    'Content-Type: application/problem+json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `Request-Id: ${randomUUID()}`,
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}
