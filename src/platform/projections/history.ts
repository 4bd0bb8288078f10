import { DomainError } from '../../kernel/domain-error.js';
import type { EventCodec } from '../event-store/event-codec.js';
import { comparePositions, type EventStore, type RecordedEvent } from '../event-store/port.js';
import type { SubscriptionDefinition } from './projection.js';

const PAGE = 500;

/**
 * All events that a subscription wants, in pages; the next page is read while the last one is worked on. Throws at a type
 * that this version does not know and that is not in `passing`: rows made without it would be wrong for good.
 */
export class History {
  /** Everything up to here was handed out. */
  position: string | null = null;
  /** How many events were handed out. */
  events = 0;

  constructor(
    private readonly store: EventStore,
    private readonly codec: EventCodec,
    private readonly definition: SubscriptionDefinition,
    private readonly passing: ReadonlySet<string>,
  ) {}

  /** Goes on from {@link position} up to `end`, or without one until there are no more. */
  async *upTo(end?: string | null): AsyncGenerator<readonly RecordedEvent[], void, undefined> {
    if (end !== undefined && comparePositions(this.position, end) >= 0) return;
    const names = new Set(this.definition.events);
    let page = await this.store.readAll(this.position, PAGE);
    while (page.length > 0) {
      const last = page.at(-1)!.position;
      const isLast = end !== undefined && comparePositions(last, end) >= 0;
      const next = isLast ? Promise.resolve([]) : this.store.readAll(last, PAGE);
      // Awaited below; until then a failure must not count as unhandled.
      next.catch(() => undefined);
      const within = isLast ? page.filter(({ position }) => comparePositions(position, end) <= 0) : page;
      for (const { type, stream, position, isForged } of within) {
        if (isForged)
          throw new DomainError('unavailable', `The event at position ${position} of ${stream} is forged`);
        if (names.has(this.codec.currentName(type)) || this.codec.knows(type) || this.passing.has(type))
          continue;
        throw new DomainError('unavailable', `This version does not know ${type}, at position ${position}`);
      }
      const wanted = within.filter(({ type }) => names.has(this.codec.currentName(type)));
      if (wanted.length > 0) yield await this.codec.decode(wanted, this.definition.staysSealed);
      this.events += wanted.length;
      this.position = within.at(-1)?.position ?? this.position;
      page = await next;
    }
  }
}
