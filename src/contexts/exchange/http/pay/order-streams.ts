import type { Readable } from 'node:stream';
import { Logger, type OnModuleDestroy } from '@nestjs/common';
import { clientOf } from '../../../../platform/http/address.js';
import {
  EventStreams,
  STREAM_TIMES,
  type EventStreamBounds,
} from '../../../../platform/http/event-streams.js';
import type { LoadedOrder, OwnOrders } from '../../application/order-actions.js';
import { hasEnded } from '../../domain/order.js';
import { payOrder } from './pay-order.js';

const BOUNDS = { ...STREAM_TIMES, max: 1000, maxPerOwner: 20 };

const MESSAGES = {
  tooMany: 'Too many orders are followed at the moment',
  tooManyOfOwner: 'Too many orders are followed from this address',
};

/** An order that is followed, as of the last event. */
interface Followed extends LoadedOrder {
  readonly orderId: string;
  revision: number;
  /** Rejects with Refusal once its page may not be served any more. */
  verify(): Promise<unknown>;
}

type Stream = ReturnType<EventStreams<Followed>['open']>;

/**
 * Orders as server-sent events: the present state, then each change, and the end with the last status. However many
 * streams there are, the database is queried once in each `checkMs`, for what has changed.
 */
export class OrderStreams implements OnModuleDestroy {
  private readonly streams: EventStreams<Followed>;
  private readonly logger = new Logger(OrderStreams.name);

  constructor(
    private readonly orders: Pick<OwnOrders, 'changedSince'>,
    bounds: EventStreamBounds = BOUNDS,
    private readonly now: () => number = Date.now,
  ) {
    this.streams = new EventStreams(bounds, MESSAGES, now, () => this.poll());
  }

  /** How many are open now. */
  get count(): number {
    return this.streams.count;
  }

  /** The body of the response. Throws Refusal (429, 503). */
  follow({ address, ...followed }: Followed & { readonly address: string }): Readable {
    const stream = this.streams.open(clientOf(address), followed);
    this.send(stream, followed);
    return stream.body;
  }

  /** Ends all of them: their pages connect again, to another process. */
  onModuleDestroy(): void {
    this.streams.close();
  }

  private async poll(): Promise<void> {
    const known = new Map<string, number>();
    for (const { subject } of this.streams)
      known.set(subject.orderId, Math.min(subject.revision, known.get(subject.orderId) ?? Infinity));
    if (known.size === 0) return;
    try {
      const changed = await this.orders.changedSince(known);
      for (const stream of this.streams) {
        const order = changed.get(stream.subject.orderId);
        if (order !== undefined && order.revision > stream.subject.revision) this.send(stream, order);
      }
    } catch (error) {
      // Their pages display nothing new until the database is available again.
      this.logger.warn({ msg: 'order streams poll failed', err: error });
    }
  }

  private send(stream: Stream, { revision, state }: LoadedOrder): void {
    stream.subject.revision = revision;
    stream.send(payOrder(state, this.now()));
    if (hasEnded(state)) this.streams.end(stream);
  }
}
