import { Inject, Injectable } from '@nestjs/common';
import { EventCodec } from '../event-codec.js';
import { EVENT_STORE, type EventStore, type RecordedEvent } from '../port.js';
import type { SubscriptionDefinition } from '../projection.js';
import { Checkpoints } from './checkpoints.js';
import { SubscriptionRegistry } from './subscription-registry.js';

const PAGE = 500;

export interface Rebuilt {
  readonly name: string;
  /** Events applied. */
  readonly events: number;
  readonly position: string | null;
}

/**
 * Builds read models anew from the first event, while the service runs: one transaction under the lock of the
 * checkpoint, so that readers see the old rows until it commits and the runner goes on after it.
 */
@Injectable()
export class ReadModelRebuild {
  constructor(
    private readonly registry: SubscriptionRegistry,
    private readonly checkpoints: Checkpoints,
    private readonly codec: EventCodec,
    @Inject(EVENT_STORE) private readonly store: EventStore,
  ) {}

  /** Names of what can be rebuilt. Sagas cannot: they would do their work again. */
  names(): readonly string[] {
    return this.registry
      .all()
      .filter(({ reset, rebuild }) => reset !== undefined || rebuild !== undefined)
      .map(({ name }) => name);
  }

  /** Throws when `name` is unknown or a saga. */
  async rebuild(name: string): Promise<Rebuilt> {
    const definition = this.registry.get(name);
    if (!definition.reset && !definition.rebuild)
      throw new Error(`${name} is no read model: it does not replay`);
    const history = new History(this.store, this.codec, definition);
    await this.checkpoints.replace(name, async (tx) => {
      if (definition.rebuild) {
        await definition.rebuild(history, tx);
      } else {
        await definition.reset?.(tx);
        for await (const events of history) await definition.apply(events, tx);
      }
      return history.position;
    });
    return { name, events: history.events, position: history.position };
  }
}

/** All events that a subscription wants, in pages; the next page is read while the last one is worked on. */
class History implements AsyncIterable<readonly RecordedEvent[]> {
  position: string | null = null;
  events = 0;

  constructor(
    private readonly store: EventStore,
    private readonly codec: EventCodec,
    private readonly definition: SubscriptionDefinition,
  ) {}

  async *[Symbol.asyncIterator](): AsyncGenerator<readonly RecordedEvent[], void, undefined> {
    const names = new Set(this.definition.events);
    let page = await this.store.readAll(null, PAGE);
    while (page.length > 0) {
      const last = page.at(-1)!.position;
      const next = this.store.readAll(last, PAGE);
      // Awaited below; until then a failure must not count as unhandled.
      next.catch(() => undefined);
      const wanted = page.filter(({ type }) => names.has(this.codec.currentName(type)));
      if (wanted.length > 0) yield await this.codec.decode(wanted);
      this.events += wanted.length;
      this.position = last;
      page = await next;
    }
  }
}
