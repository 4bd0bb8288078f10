import type { EventCodec } from '../event-store/event-codec.js';
import { comparePositions, type EventStore } from '../event-store/port.js';
import type { SubscriptionDefinition } from './projection.js';

/** Events read at a time. */
const PAGE = 500;
/** Pages that one look reads at most. */
const PAGES = 4;

/**
 * Where a subscription that runs elsewhere has to come to be current: its checkpoint trails behind events that it does
 * not want. Each event is looked at once, and a look reads a few pages at most, however far behind the subscription is.
 */
export class WantedScan {
  private readonly wanted: ReadonlySet<string>;
  /** Events after `from` up to `to` were looked at; `last` is the last one wanted. */
  private from: string | null = null;
  private to: string | null = null;
  private last: string | null = null;

  constructor(
    definition: SubscriptionDefinition,
    private readonly codec: EventCodec,
    private readonly store: EventStore,
  ) {
    this.wanted = new Set(definition.events);
  }

  /** The position that the subscription has to pass; null when it stands there. One look at a time. */
  async after(checkpoint: string | null): Promise<string | null> {
    const head = await this.store.head();
    if (comparePositions(checkpoint, head) >= 0) return null;
    // Further on than what was looked at, or taken back by a crash of PostgreSQL.
    if (comparePositions(this.to, checkpoint) < 0 || comparePositions(checkpoint, this.from) < 0) {
      this.from = this.to = checkpoint;
      this.last = null;
    }
    for (let page = 0; comparePositions(this.to, head) < 0; page += 1) {
      // So far behind that it is no use to look on: the checkpoint comes to the end at the latest.
      if (page === PAGES) return head;
      const events = await this.store.readAll(this.to, PAGE);
      if (events.length === 0) break;
      this.last =
        events.findLast(({ type }) => this.wanted.has(this.codec.currentName(type)))?.position ?? this.last;
      this.to = events.at(-1)!.position;
    }
    return comparePositions(this.last, checkpoint) > 0 ? this.last : null;
  }
}
