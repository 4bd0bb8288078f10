import { Logger } from '@nestjs/common';
import { backoffMs, pause } from '../background/backoff.js';
import { traced } from '../telemetry/tracing.js';
import type { EventCodec } from '../event-store/event-codec.js';
import { FORGED_EVENT } from '../event-store/event-mac.js';
import { comparePositions, EventStoreUnavailable, type RecordedEvent } from '../event-store/port.js';
import { isDatabaseUnavailable, TRANSACTION_TIMEOUT } from '../postgres/unavailable.js';
import type { SubscriptionDefinition } from './projection.js';
import type { Checkpoints } from './checkpoints.js';
import type { EventFeed } from './event-feed.js';
import type { PassingTypes } from './passing-types.js';
import type { ViewProgress } from './view-progress.js';

const MOST_EVENTS = 5000;
/** The longest that a checkpoint is behind what was passed by without being wanted. */
const LAZY_MS = 500;
/** How often an idle subscription makes sure that its checkpoint is where it left it. */
const CONFIRM_MS = 2000;
/** How long to leave a checkpoint alone that another process holds. */
const HELD_MS = 20;
/** How often a subscription that waits at an unknown event looks whether it may go on. */
const HALTED_MS = 1000;
const RETRY = { firstMs: 50, mostMs: 30_000 };
/** Failures of one batch before it is cut in half to find the event at fault. */
const PATIENCE = 3;

export interface SubscriptionState {
  readonly name: string;
  /** Everything up to here is applied. */
  readonly position: string | null;
  /** When the oldest event that is read and not applied was recorded; null when there is none. */
  readonly oldestPending: Date | null;
  /** Failures in a row. */
  readonly failures: number;
  /** The event that the subscription waits at: forged, or of a type that this version does not know; null while it continues. */
  readonly haltedAt: Pick<RecordedEvent, 'type' | 'stream' | 'revision' | 'position' | 'isForged'> | null;
}

/** Parts that all subscriptions of a process share. */
export interface SubscriptionParts {
  readonly feed: EventFeed;
  readonly checkpoints: Checkpoints;
  readonly codec: EventCodec;
  readonly progress: ViewProgress;
  readonly passing: Pick<PassingTypes, 'includes'>;
}

/** What a subscription does with a type of event: apply it, go past it, or wait for a version that knows it. */
type Manner = 'apply' | 'pass' | 'wait';

/**
 * One subscription at work: reads, applies, moves the checkpoint, in order, for as long as the process runs. An event
 * that cannot be applied stops this subscription, and only this one, until it can: nothing is ever skipped. A type that
 * this version does not know halts it: a newer process goes on from there, or an operator says that it may pass (ADR 96).
 */
export class SubscriptionLoop {
  private readonly logger = new Logger(SubscriptionLoop.name);
  private readonly manners = new Map<string, Manner>();
  private readonly names: ReadonlySet<string>;
  /** The checkpoint as it is stored, and how far we really are: events nobody wants move only the second. */
  private stored: string | null = null;
  private seen: string | null = null;
  private storedAt = 0;
  private confirmedAt = 0;
  /** When the last batch was begun. */
  private startedAt = -Infinity;
  private limit = MOST_EVENTS;
  private failures = 0;
  /** While a batch fails: its last position. Up to there it is taken in smaller pieces. */
  private troubleUntil: string | null = null;
  private inHand: readonly RecordedEvent[] = [];
  private halted: RecordedEvent | null = null;
  private ahead: { readonly after: string; readonly events: Promise<readonly RecordedEvent[]> } | null = null;

  constructor(
    private readonly definition: SubscriptionDefinition,
    private readonly parts: SubscriptionParts,
  ) {
    this.names = new Set(definition.events);
  }

  get state(): SubscriptionState {
    const { name } = this.definition;
    const oldestPending = this.inHand[0]?.recordedAt ?? null;
    return { name, position: this.seen, oldestPending, failures: this.failures, haltedAt: this.halted };
  }

  /** Runs until `signal` aborts; the batch in hand is finished first. */
  async run(signal: AbortSignal): Promise<void> {
    let known = false;
    while (!signal.aborted) {
      try {
        if (!known) await this.reread();
        known = true;
        await this.step(signal);
        this.failures = 0;
      } catch (error) {
        if (!signal.aborted) await this.recover(error, signal);
      }
    }
    await this.storeSeen().catch(() => undefined);
  }

  private async step(signal: AbortSignal): Promise<void> {
    await this.gather(signal);
    const page = await this.next();
    const barrier = page.findIndex(({ type, isForged }) => isForged || this.mannerOf(type) === 'wait');
    if (barrier === 0 && !signal.aborted) return this.halt(page, signal);
    const events = barrier < 0 ? page : page.slice(0, barrier);
    if (events.length === 0 || signal.aborted) {
      if (performance.now() - this.storedAt >= LAZY_MS) await this.storeSeen();
      if (performance.now() - this.confirmedAt >= CONFIRM_MS) await this.reread();
      return;
    }
    this.inHand = events;
    this.startedAt = performance.now();
    const last = events.at(-1)!.position;
    if (events.length >= this.limit) this.readAhead(last);
    const wanted = events.filter(({ type }) => this.mannerOf(type) === 'apply');
    if (wanted.length > 0) {
      const { name, wholeLog, staysSealed } = this.definition;
      const decoded = wholeLog ? wanted : await this.parts.codec.decode(wanted, staysSealed);
      const applied = await traced('subscription.batch', { subscription: name, events: decoded.length }, () =>
        this.parts.checkpoints.advance(name, this.stored, last, (tx) => this.definition.apply(decoded, tx)),
      );
      if (!applied) return this.standBack(signal);
      this.stored = last;
      this.storedAt = performance.now();
      this.passed(last);
      this.wake(decoded);
    } else {
      this.passed(last);
      if (performance.now() - this.storedAt >= LAZY_MS) await this.storeSeen();
    }
  }

  /** Lets more events come together, unless whole batches are waiting already. */
  private async gather(signal: AbortSignal): Promise<void> {
    const { gatherMs = 0 } = this.definition;
    const waitMs = gatherMs - (performance.now() - this.startedAt);
    if (waitMs > 0 && this.ahead === null) await pause(waitMs, signal);
  }

  private async next(): Promise<readonly RecordedEvent[]> {
    const { ahead } = this;
    this.ahead = null;
    if (ahead !== null && ahead.after === this.seen) return ahead.events;
    return this.parts.feed.after(this.seen, this.limit, LAZY_MS);
  }

  /** While catching up: the next page is read while this one is applied. */
  private readAhead(after: string): void {
    const events = this.parts.feed.after(after, this.limit, LAZY_MS);
    // Awaited in the next step; until then a failure must not count as unhandled.
    events.catch(() => undefined);
    this.ahead = { after, events };
  }

  private wake(events: readonly RecordedEvent[]): void {
    try {
      this.definition.afterCommit?.(events);
    } catch (error) {
      this.logger.warn({
        msg: 'a subscription could not wake its workers',
        subscription: this.definition.name,
        cause: String(error),
      });
    }
  }

  private mannerOf(type: string): Manner {
    let manner = this.manners.get(type);
    if (manner === undefined) {
      const { codec } = this.parts;
      if (this.definition.wholeLog || this.names.has(codec.currentName(type))) manner = 'apply';
      else manner = codec.knows(type) ? 'pass' : 'wait';
      this.manners.set(type, manner);
    }
    return manner;
  }

  /**
   * Waits at the first of `events`. One of an unknown type: until a process that knows it has applied it, or an operator
   * lets it pass. A forged one: until it is no longer in the log.
   */
  private async halt(events: readonly RecordedEvent[], signal: AbortSignal): Promise<void> {
    const [barrier] = events as readonly [RecordedEvent];
    this.inHand = events;
    if (this.halted?.position !== barrier.position) this.reportHalt(barrier);
    this.halted = barrier;
    await this.storeSeen();
    if (!barrier.isForged && (await this.parts.passing.includes(barrier.type))) {
      this.manners.set(barrier.type, 'pass');
      this.halted = null;
      return;
    }
    await pause(HALTED_MS, signal);
    await this.reread();
  }

  private passed(position: string): void {
    this.seen = position;
    this.inHand = [];
    this.halted = null;
    if (this.troubleUntil !== null && comparePositions(position, this.troubleUntil) >= 0) {
      this.troubleUntil = null;
      this.limit = MOST_EVENTS;
    }
    this.parts.progress.advanced(this.definition.name, position);
  }

  /** Another process holds the checkpoint or has moved it, or a crash took it back: go on from where it is. */
  private async standBack(signal: AbortSignal): Promise<void> {
    const before = this.stored;
    await this.reread();
    if (this.stored === before) await pause(HELD_MS, signal);
  }

  private async reread(): Promise<void> {
    const { name } = this.definition;
    let position = (await this.parts.checkpoints.read([name])).get(name);
    if (position === undefined) {
      await this.parts.checkpoints.ensure([name]);
      position = (await this.parts.checkpoints.read([name])).get(name) ?? null;
    }
    const lost = comparePositions(position, this.stored) < 0;
    this.stored = position;
    this.confirmedAt = performance.now();
    if (lost) this.rewind(position);
    else if (position !== null && comparePositions(position, this.seen) > 0) this.passed(position);
  }

  /** A crash of PostgreSQL took the last batches back, their rows and the checkpoint with them: they are applied again. */
  private rewind(position: string | null): void {
    const { name } = this.definition;
    this.logger.warn({ msg: 'a subscription goes back to its checkpoint', subscription: name, position });
    this.seen = position;
    this.inHand = [];
    this.halted = null;
    this.ahead = null;
    this.parts.progress.takenBack(name, position);
  }

  private async storeSeen(): Promise<void> {
    if (this.seen === null || this.seen === this.stored) return;
    const moved = await this.parts.checkpoints.move(this.definition.name, this.stored, this.seen);
    if (moved) this.stored = this.seen;
    else await this.reread();
    this.storedAt = performance.now();
  }

  private async recover(error: unknown, signal: AbortSignal): Promise<void> {
    this.failures += 1;
    this.ahead = null;
    // One that took too long may do so again: it is cut in half like one that fails.
    const tooLong = (error as { code?: unknown } | null)?.code === TRANSACTION_TIMEOUT;
    const outage = (isDatabaseUnavailable(error) && !tooLong) || error instanceof EventStoreUnavailable;
    const size = this.inHand.length;
    if (!outage && size > 1 && (this.failures >= PATIENCE || this.troubleUntil !== null)) {
      this.troubleUntil ??= this.inHand.at(-1)!.position;
      this.limit = Math.ceil(size / 2);
    }
    this.report(error, outage);
    // The search for the event at fault is not slowed down; once it is found, or in an outage, patience grows.
    const attempt = size > 1 && !outage ? Math.min(this.failures, PATIENCE) : this.failures;
    await pause(backoffMs(RETRY, attempt), signal);
  }

  private reportHalt({ type, stream, revision, id, position, isForged }: RecordedEvent): void {
    this.logger.error({
      msg: isForged
        ? `subscription halted: ${FORGED_EVENT}`
        : 'a subscription waits at an event of a type that this version does not know: upgrade it, or let the type pass',
      ...{ subscription: this.definition.name, type, stream, revision, event_id: id, position },
    });
  }

  private report(error: unknown, outage: boolean): void {
    const { name } = this.definition;
    const [event] = this.inHand;
    const cause = error instanceof Error ? (error.stack ?? error.message) : String(error);
    if (!outage && event && this.inHand.length === 1) {
      const { type, stream, id, position } = event;
      this.logger.error(
        {
          msg: 'a subscription is stopped by an event that it cannot apply',
          subscription: name,
          type,
          stream,
          event_id: id,
          position,
          failures: this.failures,
        },
        cause,
      );
    } else {
      this.logger.warn({
        msg: 'a subscription failed and tries again',
        subscription: name,
        failures: this.failures,
        cause,
      });
    }
  }
}
