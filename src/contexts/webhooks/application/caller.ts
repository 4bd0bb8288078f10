import type { EventMetadata } from '../../../platform/event-store/port.js';
import type { IdempotencyTicket } from '../../../platform/idempotency/ticket.js';

/** What a write answers: the exact text, and the position to wait for in the views (null: nothing was written). */
export interface Answered {
  readonly body: string;
  readonly position: string | null;
}

/** Who asks, and what the events say of the cause. */
export interface Caller {
  readonly merchantId: string;
  readonly metadata: EventMetadata;
  readonly ticket: IdempotencyTicket;
}
