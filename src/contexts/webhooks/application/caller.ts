import { Command } from '@nestjs/cqrs';
import type { EventMetadata } from '../../../platform/event-store/port.js';
import type { IdempotencyTicket } from '../../../platform/idempotency/ticket.js';

/** The merchant, and what the events say of the cause. */
export interface MerchantCaller {
  readonly merchantId: string;
  readonly metadata: EventMetadata;
  readonly ticket: IdempotencyTicket;
}

/** The response of a write: its exact text, and the position for which the views wait (null: nothing was written). */
export interface Responded {
  readonly body: string;
  readonly position: string | null;
}

/** A write of a merchant to one of its endpoints. */
export abstract class EndpointCommand extends Command<Responded> {
  constructor(
    readonly caller: MerchantCaller,
    readonly endpointId: string,
  ) {
    super();
  }
}

/** The options of a command whose response is stored with its events: a repeat gets the same one. */
export function respondWith<State>(
  { metadata, ticket }: MerchantCaller,
  status: number,
  body: (state: State) => string,
) {
  return { metadata, response: { ticket, status, body } };
}
