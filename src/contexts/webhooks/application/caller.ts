import { Command } from '@nestjs/cqrs';
import type { Aggregate, DomainEvent } from '../../../kernel/aggregate.js';
import type { CommandLoop } from '../../../platform/event-store/command-loop.js';
import type { EventMetadata } from '../../../platform/event-store/port.js';
import type { IdempotencyTicket } from '../../../platform/idempotency/ticket.js';

/** The merchant, and what the events say of the cause. */
export interface MerchantCaller {
  readonly merchantId: string;
  readonly metadata: EventMetadata;
  readonly ticket: IdempotencyTicket;
}

/** What a write responds: the exact text, and the position to wait for in the views (null: nothing was written). */
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

interface Response<State> {
  readonly status: number;
  /** From the state: a repeat finds what the first request did, and responds alike. */
  readonly body: (state: State) => string;
}

/** Decides for a caller; the response travels with the events. Throws what {@link CommandLoop.execute} throws. */
export async function decideFor<State, Event extends DomainEvent>(
  { metadata, ticket }: MerchantCaller,
  loop: CommandLoop,
  [aggregate, id]: readonly [Aggregate<State, Event>, string],
  decide: (state: State) => readonly Event[],
  { status, body }: Response<State>,
): Promise<Responded> {
  const { state, position } = await loop.execute(aggregate, id, decide, {
    metadata,
    response: (after) => ticket.response(status, body(after)),
  });
  return { body: body(state), position };
}
