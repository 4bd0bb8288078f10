import { Inject, Injectable } from '@nestjs/common';
import { EVENT_STORE, type EventStore, type StoredResponse } from '../event-store/port.js';
import { Sealer } from '../sealing/sealer.js';
import { ResponseSeal } from './response-seal.js';
import { ResponseStore } from './response-store.js';
import { fingerprintOf, RequestTicket } from './ticket.js';

/** Why a key is refused: a request under it is in progress, or it belongs to another request. */
type KeyConflict = 'in_flight' | 'mismatch';

/** The request was refused before it was read, or the service failed: a repeat runs again (contract.md 4.4). */
function isNotStored(status: number): boolean {
  return status >= 500 || status === 401 || status === 413 || status === 429;
}

/** The response depends on the present state and nothing was written: a repeat runs again (ADR 22). */
function isTransient(status: number): boolean {
  return [403, 404, 409, 412, 428].includes(status);
}

/**
 * Requests with an Idempotency-Key run once (contract.md 4): what is in progress is refused, what is done is replayed, and
 * what is done now is stored. Either the commit of the events carries the response
 * (`@StoresResponseWithEvents()`, on stores that can), and detects that the key was used before; or the response is looked
 * up before the handler runs and stored after it.
 */
@Injectable()
export class Idempotency {
  /** Keys in progress in this process. */
  private readonly inFlight = new Map<string, RequestTicket>();
  private readonly seal: ResponseSeal;
  /** Whether the commit that carries a ticket's response stores it. */
  readonly commitsCarryResponses: boolean;

  constructor(
    private readonly responses: ResponseStore,
    @Inject(EVENT_STORE) events: Pick<EventStore, 'carriesResponses'>,
    sealer: Sealer,
  ) {
    this.commitsCarryResponses = events.carriesResponses;
    this.seal = new ResponseSeal(sealer);
  }

  /** Acquires the key for a request until {@link release}. */
  acquire(
    scope: string,
    key: string,
    request: { readonly method: string; readonly path: string; readonly body: Buffer },
  ): RequestTicket | KeyConflict {
    const { method, path, body } = request;
    const ticket = new RequestTicket(scope, key, fingerprintOf(method, path, body), this.seal);
    const name = `${scope}:${key}`;
    const other = this.inFlight.get(name);
    if (other !== undefined) return other.fingerprint === ticket.fingerprint ? 'in_flight' : 'mismatch';
    this.inFlight.set(name, ticket);
    return ticket;
  }

  release(ticket: RequestTicket): void {
    const name = `${ticket.scope}:${ticket.key}`;
    if (this.inFlight.get(name) === ticket) this.inFlight.delete(name);
  }

  /** The response stored under the ticket's key, or null: a finished operation is not run again. */
  async findStored(ticket: RequestTicket): Promise<StoredResponse | null> {
    return ticket.key === null ? null : this.responses.find(ticket.scope, ticket.key);
  }

  /**
   * Makes a response about to be sent the response of its key, and resolves to the one that is stored: null for this one,
   * otherwise the earlier one, which must be sent instead. Rejects when the stored responses cannot be reached.
   */
  async settle(ticket: RequestTicket, status: number, body: string): Promise<StoredResponse | null> {
    if (ticket.key === null || isNotStored(status)) return null;
    // Two at once in two processes: the one that came too late gets the response of the other.
    if (ticket.isTransient || isTransient(status)) return this.findStored(ticket);
    const { committed } = ticket;
    const isStored = this.commitsCarryResponses && committed?.status === status && committed.body === body;
    if (isStored) return null;
    const { scope, key, fingerprint } = ticket;
    return this.responses.storeOrGet(ticket.toStored({ scope, key, fingerprint, status, body }));
  }
}
