import type { LogRule } from '../../../kernel/history-rules.js';
import { comparePositions, type JsonObject, type RecordedEvent } from '../../../platform/event-store/port.js';
import { knownEvents, type Context } from '../../../platform/context.js';
import type { BookedRows } from '../domain/booked-rows.js';
import { Books, responseOf, STATUS_NUMBERS, type BookedEvent, type BookedPayout } from '../domain/books.js';
import { EvidenceBooks } from '../domain/evidence.js';
import { Histories } from '../domain/histories.js';
import { Streams, type Extent } from '../domain/streams.js';
import { Violations } from '../domain/violations.js';

/** What code throws that looks into an event without its members, or with others. */
const UNREADABLE = [TypeError, SyntaxError, RangeError];

/** Events of a type that this version does not know. */
export interface UnknownType {
  readonly type: string;
  count: number;
  /** Of the first one. */
  readonly position: string;
}

interface Rules {
  readonly contexts: readonly Context[];
  /** Where the books end: where the read models are that they are compared with; the end of the log without them. */
  readonly booksEnd: string | null;
  readonly extent: Extent;
  /** Of USDC, where it is known. */
  readonly token: string | null;
}

/** All that can be told of a log from its events alone, in one pass over it. */
export class LogAudit {
  readonly violations = new Violations();
  readonly streams: Streams;
  readonly histories: Histories;
  readonly evidence: EvidenceBooks;
  readonly books: Books;
  /** Anywhere in the log: subscriptions wait at these, or were told to pass them. */
  readonly unknown = new Map<string, UnknownType>();
  private readonly upcasts: ReadonlyMap<string, Upcast | undefined>;
  private readonly logRules: readonly LogRule[];

  /** `payouts`: what their rows have to say; null when there are none to hold against it. */
  constructor(
    private readonly rules: Rules,
    private readonly payouts: BookedRows | null,
  ) {
    const { contexts, extent, token } = rules;
    this.upcasts = new Map(knownEvents(contexts).map(({ type, upcast }) => [type, upcast]));
    this.streams = new Streams(this.violations, extent);
    this.histories = new Histories(
      contexts.flatMap(({ histories = [] }) => histories),
      this.violations,
    );
    this.logRules = contexts.flatMap(({ logRules = [] }) => logRules.map((begin) => begin()));
    this.evidence = new EvidenceBooks(this.violations, token);
    const ended = (payout: BookedPayout): void => this.payouts?.put(payout.id, rowOf(payout));
    this.books = new Books(this.violations, ended, payouts?.ids);
  }

  add(event: RecordedEvent): void {
    const { type, position } = event;
    const { booksEnd, extent } = this.rules;
    let stream = -1;
    this.told(event, () => (stream = this.streams.add(event)));
    if (stream < 0) return;
    if (!this.upcasts.has(type)) this.noteUnknown(event);
    if (this.streams.isWhole(stream)) this.told(event, () => this.histories.add(this.newest(event), stream));
    // What stands across streams can be told of a whole log alone.
    if (!extent.wholeStreams) return;
    this.told(event, () => this.evidence.add(event));
    if (comparePositions(position, booksEnd) <= 0) this.told(event, () => this.books.add(event));
    for (const isBroken of this.logRules)
      this.told(event, () => {
        const rule = isBroken(this.newest(event));
        if (rule !== null) this.violations.add({ position, rule });
      });
  }

  /** Whatever somebody wrote into the store, an audit names it and goes on. */
  private told(event: RecordedEvent, look: () => void): void {
    try {
      look();
    } catch (error) {
      if (!UNREADABLE.some((kind) => error instanceof kind)) throw error;
      const rule = `${event.stream}, ${event.type}: it says what such an event says (${(error as Error).message})`;
      this.violations.add({ position: event.position, rule });
    }
  }

  /** After the last event. */
  end(): void {
    if (this.payouts !== null)
      for (const payout of this.books.open.values()) this.payouts.put(payout.id, rowOf(payout));
  }

  /** In the form of the newest version, with sealed fields as they are. */
  private newest(event: RecordedEvent): BookedEvent {
    let upcast = this.upcasts.get(event.type);
    if (upcast === undefined) return event;
    let { type, data }: { type: string; data: JsonObject } = event;
    for (; upcast !== undefined; upcast = this.upcasts.get(type)) {
      data = upcast.with(data);
      type = upcast.to;
    }
    const { position, stream, revision } = event;
    return { position, stream, revision, type, data };
  }

  private noteUnknown({ type, position }: RecordedEvent): void {
    const seen = this.unknown.get(type);
    if (seen === undefined) this.unknown.set(type, { type, count: 1, position });
    else seen.count += 1;
  }
}

type Upcast = NonNullable<ReturnType<typeof knownEvents>[number]['upcast']>;

/** What the row of a payout has to say. */
export function rowOf(payout: BookedPayout): readonly unknown[] {
  const { merchantId, userId, status, amountMinor, createdAt } = payout;
  const number = STATUS_NUMBERS[status];
  return [merchantId, userId, number, amountMinor, Date.parse(createdAt), responseOf(payout)];
}
