import { CLAIM_OWNER_ABANDONED, CLAIM_ACQUIRED } from '../../../kernel/claims.js';
import { grown, NameTable } from '../../../kernel/name-table.js';
import type { PlacedEvent } from '../ledger/event-leaf.js';
import type { Violations } from './findings.js';
import type { HistoryRules } from '../../../kernel/history-rules.js';

/** The event types by which an owner frees its claims, by claim category. */
const FREED_BY: Readonly<Record<string, string>> = { user_phone_number: 'user.deactivated.v1' };
const FREEING = new Set(Object.values(FREED_BY));

/** The bits of a stream that has events other than fences, freed its claims, or lacks its first events. */
const OWN_EVENTS = 1;
const FREES = 2;
const BEGUN_EARLIER = 4;

export interface Extent {
  /** True when every stream begins with its first event. */
  readonly wholeStreams: boolean;
  /** True when the log has the claims of all owners, not only those of one merchant. */
  readonly allClaims: boolean;
}
export const WHOLE: Extent = { wholeStreams: true, allClaims: true };

/** Checks the positions, revisions and claims of all streams. It needs some 35 bytes per stream. */
export class Streams {
  events = 0;
  private readonly names = new NameTable();
  /** The last revision plus one, by the number of the stream. */
  private lengths = new Int32Array(1 << 10);
  private holds = new Uint8Array(1 << 10);
  /** The number of the owner's stream plus one, by the number of the claim's stream. */
  private owners = new Uint32Array(1 << 10);
  private last: string | null = null;

  constructor(
    private readonly violations: Violations,
    private readonly extent: Extent = WHOLE,
  ) {}

  get count(): number {
    return this.names.size;
  }

  /** Checks the position, revision and claim of an event. Returns the number of its stream. */
  add(event: PlacedEvent): number {
    this.events += 1;
    const { position, stream, revision } = event;
    if (this.last !== null && !isLater(position, this.last)) this.note(position, 'positions must increase');
    this.last = position;
    const number = this.numberOf(stream);
    const length = this.lengths[number]!;
    const { wholeStreams, allClaims } = this.extent;
    const isKept = wholeStreams && (allClaims || event.type !== CLAIM_ACQUIRED);
    if (revision !== length && (length > 0 || isKept))
      this.note(position, `revisions of ${stream} must have no gap (${length - 1}, then ${revision})`);
    else if (revision !== length) this.holds[number]! |= BEGUN_EARLIER;
    this.lengths[number] = revision + 1;
    if (event.type === CLAIM_ACQUIRED) this.claim(number, event);
    else this.hold(number, event);
    return number;
  }

  isWhole(number: number): boolean {
    return (this.holds[number]! & BEGUN_EARLIER) === 0;
  }

  private claim(claim: number, { position, stream, data }: PlacedEvent): void {
    const owner = this.numberOf(String((data as { readonly owner?: unknown }).owner));
    const before = this.owners[claim]! - 1;
    this.owners[claim] = owner + 1;
    if (before < 0 || before === owner || !this.extent.wholeStreams) return;
    const category = stream.slice(0, stream.indexOf('-'));
    const freed = category in FREED_BY && (this.holds[before]! & FREES) !== 0;
    if ((this.holds[before]! & OWN_EVENTS) !== 0 && !freed)
      this.note(position, `the claim ${stream} must have one owner, but moved before that owner freed it`);
  }

  private hold(number: number, { position, stream, type }: PlacedEvent): void {
    if (this.owners[number] !== 0)
      this.note(position, `the claim stream ${stream} must contain only claims, and no ${type}`);
    if (type !== CLAIM_OWNER_ABANDONED)
      this.holds[number]! |= FREEING.has(type) ? OWN_EVENTS | FREES : OWN_EVENTS;
    else if ((this.holds[number]! & OWN_EVENTS) !== 0)
      this.note(position, `${stream} must be abandoned before it has events, not after`);
  }

  private numberOf(name: string): number {
    const number = this.names.add(name);
    if (number < this.lengths.length) return number;
    this.lengths = grown(this.lengths);
    this.holds = grown(this.holds);
    this.owners = grown(this.owners);
    return number;
  }

  private note(position: string, rule: string): void {
    this.violations.add({ position, rule });
  }
}

function isLater(a: string, b: string): boolean {
  return a.length === b.length ? a > b : a.length > b.length;
}

/** Verifies every history by the rules of its category, with a state in memory for each stream. */
export class Histories {
  evaluated = 0;
  private readonly rules: ReadonlyMap<string, HistoryRules>;
  private readonly states: unknown[] = [];

  constructor(
    rules: readonly HistoryRules[],
    private readonly violations: Violations,
  ) {
    this.rules = new Map(rules.map((each) => [each.category, each]));
  }

  /** Evaluates an upcast event by the rules of its category. `stream` is the number of its stream. */
  add(event: PlacedEvent, stream: number): void {
    if (event.type === CLAIM_OWNER_ABANDONED) return;
    const dash = event.stream.indexOf('-');
    const rules = this.rules.get(event.stream.slice(0, dash));
    if (rules === undefined || !rules.events.includes(event.type)) return;
    this.evaluated += 1;
    const { states } = this;
    while (states.length <= stream) states.push(undefined);
    const { state, broken } = rules.evaluate(
      states[stream] ?? rules.initial,
      event,
      event.stream.slice(dash + 1),
    );
    states[stream] = state;
    if (broken !== null)
      this.violations.add({ position: event.position, rule: `${event.stream}, ${event.type}: ${broken}` });
  }
}
