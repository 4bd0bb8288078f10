import type { Readable } from 'node:stream';
import { Inject, Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import {
  EVENT_STORE,
  type EventStore,
  type RecordedEvent,
  type Subscription,
} from '../../../../platform/event-store/port.js';
import { EventStreams, STREAM_TIMES } from '../../../../platform/http/event-streams.js';

const BOUNDS = { ...STREAM_TIMES, max: 500, maxPerOwner: 4 };
const MESSAGES = { tooMany: 'Too many streams are open', tooManyOfOwner: 'Too many streams are open' };

/** Kinds by the category of their streams, and the scope that reads them. */
const KINDS: Readonly<Record<string, readonly [kind: string, scope: string]>> = {
  user: ['user', 'users:read'],
  onboarding: ['user', 'users:read'],
  payout: ['payout', 'payouts:read'],
  order: ['order', 'orders:read'],
  merchant: ['merchant', 'merchants:read'],
  exchange_key: ['credential', 'credentials:read'],
  admin_key: ['credential', 'credentials:read'],
  webhook_endpoints: ['webhook_endpoint', 'webhooks:read'],
  operation: ['operation', 'operations:read'],
  operator: ['operator', 'operators:read'],
};

/** Something that has changed: what a page reads again. */
interface Change {
  readonly kind: string;
  readonly id: string;
  readonly merchant_id: string | null;
}

interface Follower {
  readonly operatorId: string;
  readonly scopes: ReadonlySet<string>;
  /** Ids; null: all. */
  readonly merchants: readonly string[] | null;
  /** The scopes of the person now. Rejects with Refusal once the session has ended. */
  verify(): Promise<ReadonlySet<string>>;
}

/** Changes for the consoles that are open, from one tail of the event log in each process. */
@Injectable()
export class LiveChanges implements OnModuleDestroy {
  private readonly logger = new Logger(LiveChanges.name);
  private readonly streams = new EventStreams<Follower>(BOUNDS, MESSAGES);
  private tail: Promise<Subscription> | null = null;

  constructor(@Inject(EVENT_STORE) private readonly store: EventStore) {}

  /** The body of the response. Throws Refusal (429, 503). */
  follow(follower: Follower): Readable {
    const followed: Follower & { scopes: ReadonlySet<string> } = {
      ...follower,
      verify: async () => (followed.scopes = await follower.verify()),
    };
    const stream = this.streams.open(follower.operatorId, followed, () => this.stop());
    // The headers are sent with the first bytes.
    stream.beat();
    this.start();
    return stream.body;
  }

  onModuleDestroy(): void {
    this.streams.close();
    this.stop();
  }

  private start(): void {
    if (this.tail !== null) return;
    const tail = this.store.head().then((head) => this.store.subscribe(head));
    this.tail = tail;
    tail
      .then(async (subscription) => {
        for await (const events of subscription) this.send(events);
      })
      .catch((error: unknown) => this.logger.warn({ msg: 'live changes interrupted', err: error }))
      .finally(() => {
        if (this.tail !== tail) return;
        // Pages that connect again read what they missed.
        this.tail = null;
        this.streams.restart();
      });
  }

  private stop(): void {
    const { tail } = this;
    this.tail = null;
    void tail?.then((subscription) => subscription.close()).catch(() => undefined);
  }

  private send(events: readonly RecordedEvent[]): void {
    const changes = new Map<string, readonly [Change, string]>();
    for (const event of events) {
      const changed = changeOf(event);
      if (changed !== null) changes.set(`${changed[0].kind} ${changed[0].id}`, changed);
    }
    for (const [change, scope] of changes.values()) {
      const { merchant_id: merchant } = change;
      for (const stream of this.streams) {
        const { scopes, merchants } = stream.subject;
        const isWithin = merchants === null || (merchant !== null && merchants.includes(merchant));
        if (isWithin && scopes.has(scope)) stream.send(change, 'change');
      }
    }
  }
}

/** What changed, and the scope that reads it; null for an event that no page displays. */
export function changeOf({
  stream,
  data,
  metadata,
}: Pick<RecordedEvent, 'stream' | 'data' | 'metadata'>): readonly [Change, string] | null {
  const dash = stream.indexOf('-');
  const [kind, scope] = KINDS[stream.slice(0, dash)] ?? [];
  if (kind === undefined || scope === undefined) return null;
  const own = kind === 'webhook_endpoint' ? data['endpoint_id'] : undefined;
  const merchant = data['merchant_id'] ?? metadata.merchant_id;
  const id = typeof own === 'string' ? own : stream.slice(dash + 1);
  return [{ kind, id, merchant_id: typeof merchant === 'string' ? merchant : null }, scope];
}
