import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { StoredResponse } from '../event-store/port.js';
import { failpoint } from '../failpoints.js';
import { Idempotency } from '../idempotency/idempotency.js';
import { parseIdempotencyKey, RequestTicket } from '../idempotency/ticket.js';
import {
  applyProblem,
  JSON_TYPE,
  PROBLEM_TYPE,
  sendProblem,
  UNAVAILABLE,
  type HttpProblem,
} from './problem.js';
import { rawPath, rawTarget } from './request-state.js';

const MALFORMED_KEY: HttpProblem = {
  status: 400,
  detail: 'Idempotency-Key must be a quoted uuid (RFC 9651 string)',
};
const IN_FLIGHT: HttpProblem = { status: 409, detail: 'A request with this Idempotency-Key is in flight' };
const KEY_REUSED: HttpProblem = { status: 422, detail: 'This Idempotency-Key was used for another request' };

/** The header Idempotency-Key (contract.md 4), between the request and {@link Idempotency}. */
@Injectable()
export class KeyedRequests {
  constructor(private readonly idempotency: Idempotency) {}

  /** False when the response was sent: a bad key, a key in flight, or a stored response. */
  async acquire(request: FastifyRequest, reply: FastifyReply, scope: string): Promise<boolean> {
    const header = request.headers['idempotency-key'];
    const { method, edge } = request;
    if (header === undefined || method === 'GET' || method === 'HEAD' || request.is404) return true;
    const key = parseIdempotencyKey(String(header));
    if (key === null) {
      sendProblem(reply, MALFORMED_KEY);
      return false;
    }
    const path = edge.authentication?.inputsInQuery === true ? rawTarget(request) : rawPath(request);
    const ticket = this.idempotency.acquire(scope, key, { method, path, body: edge.rawBody });
    if (!(ticket instanceof RequestTicket)) {
      edge.idempotency = ticket;
      sendProblem(reply, ticket === 'in_flight' ? IN_FLIGHT : KEY_REUSED);
      return false;
    }
    edge.ticket = ticket;
    edge.idempotency = 'fresh';
    if (this.idempotency.commitsCarryResponses && request.routeOptions.config.storesResponseWithEvents)
      return true;
    const earlier = await this.idempotency.findStored(ticket);
    if (earlier !== null) sendReplay(request, reply, earlier);
    return earlier === null;
  }

  /** What to send: the payload, the response that is stored already, or 503 when the payload cannot be stored. */
  async settle(
    ticket: RequestTicket,
    request: FastifyRequest,
    reply: FastifyReply,
    payload: unknown,
  ): Promise<unknown> {
    try {
      if (request.edge.settled) return payload;
      request.edge.settled = true;
      failpoint('response.ready');
      const body = typeof payload === 'string' || Buffer.isBuffer(payload) ? payload.toString() : '';
      const earlier = await this.idempotency.settle(ticket, reply.statusCode, body);
      return earlier === null ? payload : applyReplay(request, reply, earlier);
    } catch (error) {
      request.edge.failure = error;
      return applyProblem(reply, UNAVAILABLE);
    } finally {
      this.idempotency.release(ticket);
    }
  }
}

/** Sends the earlier response of the request's key, or the refusal to give it to another request. */
export function sendReplay(request: FastifyRequest, reply: FastifyReply, response: StoredResponse): void {
  request.edge.settled = true;
  const body = applyReplay(request, reply, response);
  reply.send(body === '' ? undefined : body);
}

function applyReplay(request: FastifyRequest, reply: FastifyReply, response: StoredResponse): string {
  const { edge } = request;
  if (response.fingerprint !== edge.ticket?.fingerprint) {
    edge.idempotency = 'mismatch';
    return applyProblem(reply, KEY_REUSED);
  }
  edge.idempotency = 'replayed';
  reply.code(response.status).header('idempotent-replayed', 'true');
  const body = edge.ticket.openBody(response);
  if (body === '') reply.removeHeader('content-type');
  else reply.header('content-type', response.status < 400 ? JSON_TYPE : PROBLEM_TYPE);
  if (response.status >= 400) edge.refusal = detailIn(body);
  return body;
}

/** Of a stored problem. */
function detailIn(body: string): string | null {
  const { detail } = (body === '' ? {} : JSON.parse(body)) as { readonly detail?: string };
  return detail ?? null;
}
