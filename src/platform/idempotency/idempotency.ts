import type { FastifyReply, FastifyRequest } from 'fastify';
import type { StoredAnswer } from '../event-store/port.js';
import type { AnswerStore } from '../http/edge.js';
import { JSON_TYPE, PROBLEM_TYPE, problemJson, sendProblem, type Problem } from '../http/problem.js';
import type { RequestTicket } from './ticket.js';

export const IN_FLIGHT: Problem = {
  status: 409,
  detail: 'A request with this Idempotency-Key is in flight',
};

export const KEY_REUSED: Problem = {
  status: 422,
  detail: 'This Idempotency-Key was used for another request',
};

/** Said before the request was looked at, or of our own trouble: a repeat runs again (contract.md 4.4). */
function saysNothing(status: number): boolean {
  return status >= 500 || status === 401 || status === 413 || status === 429;
}

/** Of what is there at the moment, and nothing was written: a repeat may find more, and runs again (ADR 106). */
function isOfTheMoment(status: number): boolean {
  return status === 403 || status === 404 || status === 409;
}

/** Answers once: replays what was answered before, refuses what is under way, and stores what is answered now. */
export class Idempotency {
  /** Keys under way in this process. */
  private readonly inFlight = new Map<string, RequestTicket>();

  constructor(
    private readonly answers: AnswerStore,
    /** Whether answers offered by a ticket are stored by the commit that carried them. */
    readonly commitsCarryAnswers: boolean,
  ) {}

  /** Takes the key for this request. A problem when another request under it is being worked on. */
  enter(ticket: RequestTicket): Problem | null {
    const name = `${ticket.scope}:${ticket.key}`;
    const other = this.inFlight.get(name);
    if (other === undefined) {
      this.inFlight.set(name, ticket);
      return null;
    }
    return other.fingerprint === ticket.fingerprint ? IN_FLIGHT : KEY_REUSED;
  }

  leave(ticket: RequestTicket): void {
    const name = `${ticket.scope}:${ticket.key}`;
    if (this.inFlight.get(name) === ticket) this.inFlight.delete(name);
  }

  /** The answer given before under the ticket's key, or null: a finished operation is not run again. */
  async earlier(ticket: RequestTicket): Promise<StoredAnswer | null> {
    return ticket.key === null ? null : this.answers.find(ticket.scope, ticket.key);
  }

  /**
   * Makes an answer about to be sent the answer of its key, and resolves to the one that stands: null for this one,
   * otherwise the earlier one, which must be sent instead. Rejects when the answers cannot be reached.
   */
  async settle(ticket: RequestTicket, status: number, body: string): Promise<StoredAnswer | null> {
    if (ticket.key === null || saysNothing(status)) return null;
    // Two at once in two processes: the one that came too late gets the answer of the other.
    if (isOfTheMoment(status)) return this.earlier(ticket);
    const { offered } = ticket;
    const travelled = this.commitsCarryAnswers && offered?.status === status && offered.body === body;
    if (travelled) return null;
    const { scope, key, fingerprint } = ticket;
    return this.answers.storeOrGet(ticket.atRest({ scope, key, fingerprint, status, body }));
  }
}

/** Puts an earlier answer, or the refusal to give it to another request, on the reply; returns the body to send. */
export function dressReplay(request: FastifyRequest, reply: FastifyReply, answer: StoredAnswer): string {
  const { edge } = request;
  if (answer.fingerprint !== edge.ticket?.fingerprint) {
    edge.idempotency = 'mismatch';
    reply.code(KEY_REUSED.status).header('content-type', PROBLEM_TYPE);
    return problemJson(KEY_REUSED);
  }
  edge.idempotency = 'replayed';
  reply.code(answer.status).header('idempotent-replayed', 'true');
  const body = edge.ticket.opened(answer);
  if (body === '') reply.removeHeader('content-type');
  else reply.header('content-type', answer.status < 400 ? JSON_TYPE : PROBLEM_TYPE);
  return body;
}

export function sendReplay(request: FastifyRequest, reply: FastifyReply, answer: StoredAnswer): void {
  request.edge.settled = true;
  const body = dressReplay(request, reply, answer);
  reply.send(body === '' ? undefined : body);
}

/** Answers a request whose key is taken; nothing of it is stored. */
export function refuseKey(request: FastifyRequest, reply: FastifyReply, problem: Problem): void {
  request.edge.idempotency = problem === IN_FLIGHT ? 'in_flight' : 'mismatch';
  sendProblem(reply, problem);
}
