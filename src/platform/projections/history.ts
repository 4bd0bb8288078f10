import { DomainError } from '../../kernel/domain-error.js';
import type { EventCodec } from '../event-store/event-codec.js';
import { logPages } from '../event-store/log-pages.js';
import type { EventStore, RecordedEvent } from '../event-store/port.js';
import type { SubscriptionDefinition } from './projection.js';

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
    const names = new Set(this.definition.events);
    for await (const page of logPages(this.store, {
      after: this.position,
      ...(end !== undefined && { end }),
    })) {
      for (const { type, stream, position, isForged } of page) {
        if (isForged)
          throw new DomainError('unavailable', `The event at position ${position} of ${stream} is forged`);
        if (names.has(this.codec.currentName(type)) || this.codec.knows(type) || this.passing.has(type))
          continue;
        throw new DomainError('unavailable', `This version does not know ${type}, at position ${position}`);
      }
      const wanted = page.filter(({ type }) => names.has(this.codec.currentName(type)));
      if (wanted.length > 0) yield await this.codec.decode(wanted, this.definition.staysSealed);
      this.events += wanted.length;
      this.position = page.at(-1)!.position;
    }
  }
}
