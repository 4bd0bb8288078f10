import { Command } from '@nestjs/cqrs';
import type { EventMetadata } from '../../../platform/event-store/port.js';
import type { IdempotencyTicket } from '../../../platform/idempotency/ticket.js';

/** The merchant of a write, the metadata of its events and its idempotency ticket. */
export interface MerchantCaller {
  readonly merchantId: string;
  readonly metadata: EventMetadata;
  readonly ticket: IdempotencyTicket;
}

export interface Responded {
  readonly body: string;
  /** The position that the views must pass before the response is sent; null when nothing was written. */
  readonly position: string | null;
}

export abstract class MerchantCommand<Input> extends Command<Responded> {
  constructor(
    readonly caller: MerchantCaller,
    readonly input: Input,
  ) {
    super();
  }
}

/** Returns the options of a command whose response is stored with its events, for repeats. */
export function respondWith<State>(
  { metadata, ticket }: MerchantCaller,
  status: number,
  body: (state: State) => string,
) {
  return { metadata, response: { ticket, status, body } };
}
