import { Readable } from 'node:stream';
import { Logger, type OnModuleDestroy } from '@nestjs/common';
import { clientOf } from '../../../../platform/http/address.js';
import { Refusal, type Problem } from '../../../../platform/http/problem.js';
import type { LoadedOrder } from '../../application/order-actions.js';
import type { PayerOrders } from '../../application/payer-orders.js';
import { hasEnded } from '../../domain/order.js';
import { payOrder } from './pay-order.js';

const STREAM_BOUNDS = {
  /** Open at once, in this process and of one address. */
  max: 1000,
  maxPerAddress: 20,
  /** How often all orders are read, in one query. */
  pollMs: 1000,
  heartbeatMs: 15_000,
  /** The page connects again after it, perhaps to another process. */
  lifetimeMs: 600_000,
};
export type StreamBounds = Readonly<typeof STREAM_BOUNDS>;

const headers = { 'retry-after': '10' };
const TOO_MANY: Problem = { status: 503, detail: 'Too many orders are followed at the moment', headers };
const TOO_MANY_OF_ADDRESS: Problem = {
  status: 429,
  detail: 'Too many orders are followed from this address',
  headers,
};

/** An order that is followed, and from where. */
interface Following extends LoadedOrder {
  readonly orderId: string;
  readonly address: string;
  /** Rejects with {@link Refusal} once its page may not be served any more. */
  verify(): Promise<unknown>;
}

interface Stream extends Following {
  readonly body: Readable;
  readonly client: string;
  readonly openedAt: number;
  revision: number;
  sentAt: number;
}

/**
 * Orders as server-sent events: the present state, then each change, and the end with the last status. However many
 * streams there are, the database is queried once in each `pollMs`, for what has changed.
 */
export class OrderStreams implements OnModuleDestroy {
  private readonly streams = new Set<Stream>();
  private timer: NodeJS.Timeout | null = null;
  private draining = false;
  private readonly logger = new Logger(OrderStreams.name);

  constructor(
    private readonly orders: Pick<PayerOrders, 'changedSince'>,
    private readonly bounds: StreamBounds = STREAM_BOUNDS,
    private readonly now: () => number = Date.now,
  ) {}

  /** How many are open now. */
  get count(): number {
    return this.streams.size;
  }

  /** The body of the response. Throws {@link Refusal} (429, 503). */
  follow(following: Following): Readable {
    const client = clientOf(following.address);
    if (this.draining || this.count >= this.bounds.max) throw new Refusal(TOO_MANY);
    const ofClient = [...this.streams].filter((each) => each.client === client);
    if (ofClient.length >= this.bounds.maxPerAddress) throw new Refusal(TOO_MANY_OF_ADDRESS);
    const body = new Readable({ read: () => undefined });
    const at = this.now();
    const stream: Stream = { ...following, client, body, openedAt: at, sentAt: at };
    this.streams.add(stream);
    body.once('close', () => this.streams.delete(stream));
    this.send(stream, following);
    this.schedule();
    return body;
  }

  /** Ends all of them: their pages connect again, to another process. */
  onModuleDestroy(): void {
    this.draining = true;
    for (const stream of this.streams) this.end(stream);
  }

  private schedule(): void {
    if (this.count === 0) return;
    this.timer ??= setTimeout(() => {
      void this.poll().finally(() => {
        this.timer = null;
        this.schedule();
      });
    }, this.bounds.pollMs).unref();
  }

  private async poll(): Promise<void> {
    for (const stream of this.streams) if (await this.isOver(stream)) this.end(stream);
    const known = new Map<string, number>();
    for (const { orderId, revision } of this.streams)
      known.set(orderId, Math.min(revision, known.get(orderId) ?? Infinity));
    if (known.size === 0) return;
    try {
      const changed = await this.orders.changedSince(known);
      for (const stream of this.streams) {
        const order = changed.get(stream.orderId);
        if (order !== undefined && order.revision > stream.revision) this.send(stream, order);
      }
    } catch (error) {
      // Their pages display nothing new until the database is available again.
      this.logger.warn({ msg: 'order streams poll failed', err: error });
    }
    for (const stream of this.streams) this.beat(stream);
  }

  private async isOver({ openedAt, verify }: Stream): Promise<boolean> {
    if (this.now() - openedAt >= this.bounds.lifetimeMs) return true;
    // A directory that is unavailable does not end the session.
    return verify().then(
      () => false,
      (error: unknown) => error instanceof Refusal,
    );
  }

  private send(stream: Stream, { revision, state }: LoadedOrder): void {
    stream.revision = revision;
    stream.sentAt = this.now();
    stream.body.push(`data: ${JSON.stringify(payOrder(state, stream.sentAt))}\n\n`);
    if (hasEnded(state)) this.end(stream);
  }

  /** Keeps proxies from closing an idle connection. A client that has not read since the last heartbeat is gone. */
  private beat(stream: Stream): void {
    if (this.now() - stream.sentAt < this.bounds.heartbeatMs) return;
    stream.sentAt = this.now();
    if (stream.body.readableLength > 0) stream.body.destroy();
    else stream.body.push(':\n\n');
  }

  private end(stream: Stream): void {
    this.streams.delete(stream);
    stream.body.push(null);
  }
}
