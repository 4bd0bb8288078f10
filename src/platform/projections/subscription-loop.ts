import { Logger } from '@nestjs/common';
import { backoffMs, sleep } from '../jobs/backoff.js';
import { traced } from '../telemetry/tracing.js';
import type { EventCodec } from '../event-store/event-codec.js';
import { FORGED_EVENT } from '../event-store/authentic-event-store.js';
import { comparePositions, EventStoreUnavailable, type RecordedEvent } from '../event-store/port.js';
import { isDatabaseUnavailable, TRANSACTION_TIMEOUT } from '../postgres/unavailable.js';
import type { SubscriptionDefinition } from './projection.js';
import type { Checkpoints } from './checkpoints.js';
import type { EventFeed } from './event-feed.js';
import type { PassingTypes } from './passing-types.js';
import type { SubscriptionProgress } from './subscription-progress.js';

const MAX_EVENTS = 5000;
/** The interval at which irrelevant events move the checkpoint. */
const LAZY_MS = 500;
/** The interval at which an idle subscription reads its checkpoint again. */
const CONFIRM_MS = 2000;
/** The pause while another process holds the checkpoint. */
const HELD_MS = 20;
const HALTED_MS = 1000;
const RETRY = { firstMs: 50, maxMs: 30_000 };
/** The number of failures after which a batch is halved, to find the event at fault. */
const MAX_FAILURES = 3;

export interface SubscriptionState {
  readonly name: string;
  readonly position: string | null;
  /** The event at which the subscription is halted: forged, or of a type that this version does not know. */
  readonly haltedAt: Pick<RecordedEvent, 'type' | 'stream' | 'revision' | 'position' | 'isForged'> | null;
  readonly haltedSince: Date | null;
}

interface SubscriptionParts {
  readonly feed: EventFeed;
  readonly checkpoints: Checkpoints;
  readonly codec: EventCodec;
  readonly progress: SubscriptionProgress;
  readonly passing: Pick<PassingTypes, 'all'>;
}

/** The treatment of an event type: apply, skip, or wait for a version that can read it. */
type Treatment = 'apply' | 'pass' | 'wait';

/**
 * Applies the events of one subscription in order. A failing event stops only this subscription; no event is
 * skipped. At an unknown type, it waits for a newer version or for an operator to let the type pass (ADR 96).
 */
export class SubscriptionLoop {
  private readonly logger = new Logger(SubscriptionLoop.name);
  private readonly allowed = new Set<string>();
  private readonly names: ReadonlySet<string>;
  /** The checkpoint is `stored`. The position of the loop is `seen`, which irrelevant events also move. */
  private stored: string | null = null;
  private seen: string | null = null;
  private storedAt = 0;
  private confirmedAt = 0;
  private startedAt = -Infinity;
  private limit = MAX_EVENTS;
  private failures = 0;
  /** The last position of a failing batch, up to which batches are smaller. */
  private troubleUntil: string | null = null;
  private pending: readonly RecordedEvent[] = [];
  private halted: { readonly event: RecordedEvent; readonly since: Date } | null = null;
  /** True after a full batch, because more events are due. */
  private isBehind = false;

  constructor(
    private readonly definition: SubscriptionDefinition,
    private readonly parts: SubscriptionParts,
  ) {
    this.names = new Set(definition.events);
  }

  get state(): SubscriptionState {
    const { event = null, since = null } = this.halted ?? {};
    return { name: this.definition.name, position: this.seen, haltedAt: event, haltedSince: since };
  }

  /** Runs until `signal` aborts, and completes the pending batch. */
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
    const page = await this.parts.feed.after(this.seen, this.limit, LAZY_MS);
    this.isBehind = page.length >= this.limit;
    const barrier = page.findIndex(({ type, isForged }) => isForged || this.findTreatment(type) === 'wait');
    if (barrier === 0 && !signal.aborted) return this.halt(page, signal);
    const events = barrier < 0 ? page : page.slice(0, barrier);
    if (events.length === 0 || signal.aborted) {
      if (performance.now() - this.storedAt >= LAZY_MS) await this.storeSeen();
      if (performance.now() - this.confirmedAt >= CONFIRM_MS) await this.reread();
      return;
    }
    this.pending = events;
    this.startedAt = performance.now();
    const last = events.at(-1)!.position;
    const relevant = events.filter(({ type }) => this.findTreatment(type) === 'apply');
    if (relevant.length > 0) {
      const { name, wholeLog, staysSealed } = this.definition;
      const decoded = wholeLog ? relevant : await this.parts.codec.decode(relevant, staysSealed);
      const applied = await traced('subscription.batch', { subscription: name, events: decoded.length }, () =>
        this.parts.checkpoints.advance(name, this.stored, last, (tx) => this.definition.apply(decoded, tx)),
      );
      if (!applied) return this.yieldCheckpoint(signal);
      this.stored = last;
      this.storedAt = performance.now();
      this.passed(last);
      this.definition.afterCommit?.(decoded);
    } else {
      this.passed(last);
      if (performance.now() - this.storedAt >= LAZY_MS) await this.storeSeen();
    }
  }

  /** Waits for more events, unless a full batch is due. */
  private async gather(signal: AbortSignal): Promise<void> {
    const { gatherMs = 0 } = this.definition;
    const waitMs = gatherMs - (performance.now() - this.startedAt);
    if (waitMs > 0 && !this.isBehind) await sleep(waitMs, signal);
  }

  private findTreatment(type: string): Treatment {
    const { codec } = this.parts;
    if (this.definition.wholeLog || this.names.has(codec.currentName(type))) return 'apply';
    return codec.knows(type) || this.allowed.has(type) ? 'pass' : 'wait';
  }

  /** Waits until another process applies the event, its type may pass, or the forged event is deleted. */
  private async halt(events: readonly RecordedEvent[], signal: AbortSignal): Promise<void> {
    const [barrier] = events as readonly [RecordedEvent];
    this.pending = events;
    const known = this.halted?.event.position === barrier.position ? this.halted : null;
    if (known === null) this.reportHalt(barrier);
    this.halted = { event: barrier, since: known?.since ?? new Date() };
    await this.storeSeen();
    if (!barrier.isForged && (await this.parts.passing.all()).has(barrier.type)) {
      this.allowed.add(barrier.type);
      this.halted = null;
      return;
    }
    await sleep(HALTED_MS, signal);
    await this.reread();
  }

  private passed(position: string): void {
    this.seen = position;
    this.pending = [];
    this.halted = null;
    if (this.troubleUntil !== null && comparePositions(position, this.troubleUntil) >= 0) {
      this.troubleUntil = null;
      this.limit = MAX_EVENTS;
    }
    this.parts.progress.advanced(this.definition.name, position);
  }

  /** Continues from the stored checkpoint, which another process holds or has moved, or a crash rewound. */
  private async yieldCheckpoint(signal: AbortSignal): Promise<void> {
    const before = this.stored;
    await this.reread();
    if (this.stored === before) await sleep(HELD_MS, signal);
  }

  private async reread(): Promise<void> {
    const { name } = this.definition;
    let position = (await this.parts.checkpoints.read([name])).get(name);
    if (position === undefined) {
      await this.parts.checkpoints.ensure([name]);
      position = null;
    }
    const lost = comparePositions(position, this.stored) < 0;
    this.stored = position;
    this.confirmedAt = performance.now();
    if (lost) this.rewind(position);
    else if (position !== null && comparePositions(position, this.seen) > 0) this.passed(position);
  }

  /** Moves back to repeat batches that a crash of PostgreSQL lost together with their checkpoint. */
  private rewind(position: string | null): void {
    const { name } = this.definition;
    this.logger.warn({ msg: 'subscription rewound to checkpoint', subscription: name, position });
    this.seen = position;
    this.pending = [];
    this.halted = null;
    this.parts.progress.rewound(name, position);
  }

  private async storeSeen(): Promise<void> {
    if (this.seen === null || this.seen === this.stored) return;
    const moved = await this.parts.checkpoints.advance(this.definition.name, this.stored, this.seen);
    if (moved) this.stored = this.seen;
    else await this.reread();
    this.storedAt = performance.now();
  }

  private async recover(error: unknown, signal: AbortSignal): Promise<void> {
    this.failures += 1;
    // A batch that timed out is halved like one that fails.
    const tooLong = (error as { code?: unknown } | null)?.code === TRANSACTION_TIMEOUT;
    const outage = (isDatabaseUnavailable(error) && !tooLong) || error instanceof EventStoreUnavailable;
    const size = this.pending.length;
    if (!outage && size > 1 && (this.failures >= MAX_FAILURES || this.troubleUntil !== null)) {
      this.troubleUntil ??= this.pending.at(-1)!.position;
      this.limit = Math.ceil(size / 2);
    }
    this.report(error, outage);
    // The delay grows in an outage and at the event at fault, not during the search for it.
    const attempt = size > 1 && !outage ? Math.min(this.failures, MAX_FAILURES) : this.failures;
    await sleep(backoffMs(RETRY, attempt), signal);
  }

  private reportHalt(event: RecordedEvent): void {
    const msg = event.isForged
      ? `subscription halted: ${FORGED_EVENT}`
      : 'subscription halted: this version does not know the event type, upgrade it or let the type pass';
    this.logger.error({ msg, ...this.toFields(event) });
  }

  private report(error: unknown, outage: boolean): void {
    const fields = { failures: this.failures, err: error };
    const [event] = this.pending;
    if (!outage && event && this.pending.length === 1) {
      const msg = 'subscription stuck: an event cannot be applied';
      this.logger.error({ msg, ...this.toFields(event), ...fields });
    } else {
      const msg = 'subscription failed: retrying';
      this.logger.warn({ msg, subscription: this.definition.name, ...fields });
    }
  }

  private toFields({ type, stream, revision, id, position }: RecordedEvent): object {
    return { subscription: this.definition.name, type, stream, revision, event_id: id, position };
  }
}
