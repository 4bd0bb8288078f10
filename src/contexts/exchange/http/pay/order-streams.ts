import { Readable } from 'node:stream';
import { Logger, type OnModuleDestroy } from '@nestjs/common';
import { clientOf } from '../../../../platform/http/rate-limit.js';
import type { LoadedOrder, OwnOrders } from '../../application/order-actions.js';
import { Refusal } from '../../../../platform/http/problem.js';
import { hasEnded } from '../../domain/order.js';
import { payOrder } from './pay-order.js';

/** A client that reads slower than this many bytes pile up is disconnected. */
const MAX_BYTES = 262_144;

const BOUNDS = {
  /** In this process. */
  max: 1000,
  maxPerAddress: 20,
  /** How often each is checked. */
  checkMs: 1000,
  heartbeatMs: 15_000,
  /** The page connects again after it, perhaps to another process. */
  lifetimeMs: 600_000,
};

/** An order that is followed, as of the last event. */
interface Followed extends LoadedOrder {
  readonly orderId: string;
  readonly address: string;
  revision: number;
  /** Rejects with Refusal once its page may not be served any more. */
  verify(): Promise<unknown>;
}

interface OrderStream {
  readonly body: Readable;
  readonly order: Followed;
  readonly client: string;
  readonly openedAt: number;
  sentAt: number;
}

/**
 * Orders as server-sent events: the present state, then each change, and the end with the last status. However many
 * streams there are, the database is queried once in each `checkMs`, for what has changed.
 */
export class OrderStreams implements OnModuleDestroy {
  private readonly streams = new Set<OrderStream>();
  private readonly logger = new Logger(OrderStreams.name);
  private timer: NodeJS.Timeout | null = null;
  private draining = false;

  constructor(
    private readonly orders: Pick<OwnOrders, 'changedSince'>,
    private readonly bounds = BOUNDS,
    private readonly now: () => number = Date.now,
  ) {}

  /** How many are open now. */
  get count(): number {
    return this.streams.size;
  }

  /** The body of the response. Throws Refusal (429, 503). */
  follow(order: Followed): Readable {
    const client = clientOf(order.address);
    if (this.draining || this.count >= this.bounds.max)
      throw refusal(503, 'Too many orders are followed at the moment');
    if ([...this.streams].filter((each) => each.client === client).length >= this.bounds.maxPerAddress)
      throw refusal(429, 'Too many orders are followed from this address');
    const body = new Readable({ read: () => undefined });
    const stream = { body, order, client, openedAt: this.now(), sentAt: this.now() };
    this.streams.add(stream);
    body.once('close', () => this.streams.delete(stream));
    this.schedule();
    this.send(stream, order);
    return body;
  }

  /** Ends all of them for good: their pages connect again, to another process. */
  onModuleDestroy(): void {
    this.draining = true;
    for (const stream of this.streams) this.end(stream);
  }

  private schedule(): void {
    if (this.count === 0) return;
    this.timer ??= setTimeout(() => {
      void this.check().finally(() => {
        this.timer = null;
        this.schedule();
      });
    }, this.bounds.checkMs).unref();
  }

  private async check(): Promise<void> {
    await Promise.all([...this.streams].map((stream) => this.verify(stream)));
    await this.poll();
    for (const stream of this.streams) {
      if (this.now() - stream.sentAt < this.bounds.heartbeatMs) continue;
      // Keeps proxies from closing an idle connection. A client that has not read since the last heartbeat is gone.
      if (stream.body.readableLength > 0) stream.body.destroy();
      else this.push(stream, ':\n\n');
    }
  }

  private async verify(stream: OrderStream): Promise<void> {
    if (this.now() - stream.openedAt >= this.bounds.lifetimeMs) return this.end(stream);
    try {
      await stream.order.verify();
    } catch (error) {
      // A database that is unavailable does not end the session.
      if (!(error instanceof Refusal)) return;
      // Its page need not connect again to find out.
      this.push(stream, 'event: end\ndata: {}\n\n');
      this.end(stream);
    }
  }

  private async poll(): Promise<void> {
    const known = new Map<string, number>();
    for (const { order } of this.streams)
      known.set(order.orderId, Math.min(order.revision, known.get(order.orderId) ?? Infinity));
    if (known.size === 0) return;
    try {
      const changed = await this.orders.changedSince(known);
      for (const stream of this.streams) {
        const order = changed.get(stream.order.orderId);
        if (order !== undefined && order.revision > stream.order.revision) this.send(stream, order);
      }
    } catch (error) {
      // Their pages display nothing new until the database is available again.
      this.logger.warn({ msg: 'order streams poll failed', err: error });
    }
  }

  private send(stream: OrderStream, { revision, state }: LoadedOrder): void {
    stream.order.revision = revision;
    this.push(stream, `data: ${JSON.stringify(payOrder(state, this.now()))}\n\n`);
    if (stream.body.readableLength > MAX_BYTES) stream.body.destroy();
    if (hasEnded(state)) this.end(stream);
  }

  private push(stream: OrderStream, text: string): void {
    stream.sentAt = this.now();
    stream.body.push(text);
  }

  private end(stream: OrderStream): void {
    this.streams.delete(stream);
    stream.body.push(null);
  }
}

function refusal(status: number, detail: string): Refusal {
  return new Refusal({ status, detail, headers: { 'retry-after': '10' } });
}
