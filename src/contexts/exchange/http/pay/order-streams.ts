import { Readable } from 'node:stream';
import { clientOf } from '../../../../platform/http/address.js';
import type { Problem } from '../../../../platform/http/problem.js';
import { Logger } from '@nestjs/common';
import type { MadeOrder } from '../../domain/order.js';
import type { ChangedOrder } from '../../views/order-changes.js';
import { isFinal, payOrder } from './pay-order.js';

export interface StreamBounds {
  /** Open at once, in this process and of one address. */
  readonly most: number;
  readonly mostPerAddress: number;
  /** How often all orders that are followed are looked at, in one query. */
  readonly pollMs: number;
  readonly heartbeatMs: number;
  /** The page connects again after it, perhaps to another process. */
  readonly lifetimeMs: number;
}

const STREAM_BOUNDS: StreamBounds = {
  most: 1000,
  mostPerAddress: 20,
  pollMs: 1000,
  heartbeatMs: 15_000,
  lifetimeMs: 600_000,
};

const TOO_MANY: Problem = {
  status: 503,
  detail: 'Too many orders are followed at the moment',
  headers: { 'retry-after': '10' },
};
const TOO_MANY_OF_ADDRESS: Problem = {
  status: 429,
  detail: 'Too many orders are followed from this address',
  headers: { 'retry-after': '10' },
};

/** An order that is followed, and from where. */
export interface Following {
  readonly orderId: string;
  readonly address: string;
  readonly revision: number;
  readonly state: MadeOrder;
  /** Whether its page may still be served. */
  isAllowed(): Promise<boolean>;
}

interface Stream extends Omit<Following, 'revision' | 'state'> {
  readonly body: Readable;
  readonly client: string;
  readonly openedAt: number;
  revision: number;
  beatAt: number;
  ended: boolean;
}

/**
 * Orders as server-sent events: what is known, then each change, and the end with the last status. However many streams
 * there are, the database is asked once in each `pollMs`, for what has changed.
 */
export class OrderStreams {
  private readonly open = new Set<Stream>();
  private readonly perClient = new Map<string, number>();
  private timer: NodeJS.Timeout | null = null;
  private draining = false;
  private readonly logger = new Logger(OrderStreams.name);

  constructor(
    private readonly changes: {
      since(known: ReadonlyMap<string, number>): Promise<readonly ChangedOrder[]>;
    },
    private readonly bounds: StreamBounds = STREAM_BOUNDS,
    private readonly now: () => number = Date.now,
  ) {}

  /** How many are followed now. */
  get count(): number {
    return this.open.size;
  }

  /** The body of the response, or why there is none. */
  follow(following: Following): Readable | Problem {
    const client = clientOf(following.address);
    if (this.draining || this.open.size >= this.bounds.most) return TOO_MANY;
    const ofClient = this.perClient.get(client) ?? 0;
    if (ofClient >= this.bounds.mostPerAddress) return TOO_MANY_OF_ADDRESS;
    const body = new Readable({ read: () => undefined });
    body.push(this.frame(following.state));
    if (isFinal(following.state)) {
      body.push(null);
      return body;
    }
    const at = this.now();
    const { orderId, address, revision } = following;
    const stream: Stream = {
      ...{ orderId, address, revision, client, body, openedAt: at, beatAt: at, ended: false },
      isAllowed: () => following.isAllowed(),
    };
    this.open.add(stream);
    this.perClient.set(client, ofClient + 1);
    body.once('close', () => this.closed(stream));
    this.schedule();
    return body;
  }

  /** Ends all of them: their pages connect again, to a process that stays. */
  drain(): void {
    this.draining = true;
    for (const stream of this.open) end(stream);
  }

  private closed(stream: Stream): void {
    this.open.delete(stream);
    const left = this.perClient.get(stream.client)! - 1;
    if (left === 0) this.perClient.delete(stream.client);
    else this.perClient.set(stream.client, left);
  }

  private schedule(): void {
    this.timer ??= setTimeout(() => {
      void this.look().finally(() => {
        this.timer = null;
        if (this.open.size > 0) this.schedule();
      });
    }, this.bounds.pollMs).unref();
  }

  private async look(): Promise<void> {
    await this.endWhatMayNotGoOn();
    if (this.open.size === 0) return;
    const known = new Map<string, number>();
    for (const { orderId, revision } of this.open)
      known.set(orderId, Math.min(revision, known.get(orderId) ?? Infinity));
    try {
      const changed = new Map((await this.changes.since(known)).map((each) => [each.id, each]));
      for (const stream of this.open) this.tell(stream, changed.get(stream.orderId));
    } catch (error) {
      // Those who follow see nothing new until the database is back.
      this.logger.warn({ msg: 'followed orders not read', err: error });
    }
    this.beat();
  }

  private async endWhatMayNotGoOn(): Promise<void> {
    const now = this.now();
    for (const stream of [...this.open]) {
      const isOver = now - stream.openedAt >= this.bounds.lifetimeMs;
      // A directory that cannot be asked now says nothing against it.
      const isAllowed = isOver || (await stream.isAllowed().catch(() => true));
      if (isOver || !isAllowed) end(stream);
    }
  }

  private tell(stream: Stream, changed: ChangedOrder | undefined): void {
    if (changed === undefined || changed.revision <= stream.revision || stream.ended) return;
    stream.revision = changed.revision;
    stream.beatAt = this.now();
    stream.body.push(this.frame(changed.state));
    if (isFinal(changed.state)) end(stream);
  }

  /** Keeps proxies from closing a connection that is silent; who has taken nothing since the last one is gone. */
  private beat(): void {
    const now = this.now();
    for (const stream of this.open) {
      if (stream.ended || now - stream.beatAt < this.bounds.heartbeatMs) continue;
      stream.beatAt = now;
      if (stream.body.readableLength > 0) stream.body.destroy();
      else stream.body.push(':\n\n');
    }
  }

  private frame(state: MadeOrder): string {
    return `data: ${JSON.stringify(payOrder(state, this.now()))}\n\n`;
  }
}

function end(stream: Stream): void {
  if (stream.ended) return;
  stream.ended = true;
  stream.body.push(null);
}
