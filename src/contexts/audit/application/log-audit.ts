import type { LogRule } from '../../../kernel/history-rules.js';
import { EventCodec } from '../../../platform/event-store/event-codec.js';
import { comparePositions, type RecordedEvent } from '../../../platform/event-store/port.js';
import { type Context, knownEvents } from '../../../platform/context.js';
import { BalanceReplay, EvidenceCheck } from '../domain/balance-replay.js';
import { type Extent, Histories, Streams } from '../domain/streams.js';
import { Violations } from '../domain/findings.js';

/** Thrown by code that reads an event with missing or wrong members. */
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
  /** The checkpoint of the read models that the books are compared with; the end of the log without them. */
  readonly booksEnd: string | null;
  readonly extent: Extent;
  /** Unknown types that an operator let pass: subscriptions ignore them, and so does the audit. */
  readonly allowed: ReadonlySet<string>;
  /** Of USDC, where it is known. */
  readonly token: string | null;
}

/** Everything that a log proves from its events alone, in one pass over it. */
export class LogAudit {
  readonly violations = new Violations();
  readonly streams: Streams;
  readonly histories: Histories;
  readonly evidence: EvidenceCheck;
  readonly books: BalanceReplay;
  /** Anywhere in the log: subscriptions wait at these, or may pass them. */
  readonly unknown = new Map<string, UnknownType>();
  private readonly unknownStreams = new Set<number>();
  private readonly codec = new EventCodec();
  private readonly logRules: readonly LogRule[];

  constructor(private readonly rules: Rules) {
    const { contexts, extent, token } = rules;
    this.codec.register(knownEvents(contexts));
    this.streams = new Streams(this.violations, extent);
    this.histories = new Histories(
      contexts.flatMap(({ histories = [] }) => histories),
      this.violations,
    );
    this.logRules = contexts.flatMap(({ logRules = [] }) => logRules.map((begin) => begin()));
    this.evidence = new EvidenceCheck(this.violations, token);
    this.books = new BalanceReplay(this.violations);
  }

  add(event: RecordedEvent): void {
    const { type, position } = event;
    const { booksEnd, extent } = this.rules;
    let stream = -1;
    this.checked(event, () => (stream = this.streams.add(event)));
    if (stream < 0) return;
    if (!this.codec.knows(type)) this.noteUnknown(event, stream);
    // What follows an event that this version does not know, only a newer one can evaluate.
    if (this.unknownStreams.has(stream)) return;
    if (this.streams.isWhole(stream))
      this.checked(event, () => this.histories.add(this.codec.upcast(event), stream));
    // Rules across streams need a whole log.
    if (!extent.wholeStreams) return;
    this.checked(event, () => this.evidence.add(event));
    if (comparePositions(position, booksEnd) <= 0) this.checked(event, () => this.books.add(event));
    for (const isBroken of this.logRules)
      this.checked(event, () => {
        const rule = isBroken(this.codec.upcast(event));
        if (rule !== null) this.violations.add({ position, rule });
      });
  }

  /** Reports an unreadable event and continues. */
  private checked(event: RecordedEvent, check: () => void): void {
    try {
      check();
    } catch (error) {
      if (!UNREADABLE.some((kind) => error instanceof kind)) throw error;
      const rule = `${event.stream}, ${event.type}: it says what such an event says (${(error as Error).message})`;
      this.violations.add({ position: event.position, rule });
    }
  }

  private noteUnknown({ type, position }: RecordedEvent, stream: number): void {
    if (!this.rules.allowed.has(type)) this.unknownStreams.add(stream);
    const seen = this.unknown.get(type);
    if (seen === undefined) this.unknown.set(type, { type, count: 1, position });
    else seen.count += 1;
  }
}
