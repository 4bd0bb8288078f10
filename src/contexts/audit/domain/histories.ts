import type { HistoryRules } from '../../../kernel/history-rules.js';
import type { BookedEvent } from './books.js';
import type { Violations } from './violations.js';

/** Marks of claims stand in streams of every category, and say nothing to them. */
const FENCE = 'claim.owner_abandoned.v1';

/** Every history against the rules of its own category. Memory: a state for each stream, small once it has ended. */
export class Histories {
  /** Events that were judged. */
  judged = 0;
  private readonly rules: ReadonlyMap<string, HistoryRules>;
  /** By the number of their stream. */
  private readonly states: unknown[] = [];

  constructor(
    rules: readonly HistoryRules[],
    private readonly violations: Violations,
  ) {
    this.rules = new Map(rules.map((each) => [each.category, each]));
  }

  /** `event` as the newest version writes it. `stream` is a number that no other stream has. */
  add(event: BookedEvent, stream: number): void {
    if (event.type === FENCE) return;
    const dash = event.stream.indexOf('-');
    const rules = this.rules.get(event.stream.slice(0, dash));
    if (rules === undefined || !rules.events.includes(event.type)) return;
    this.judged += 1;
    const { states } = this;
    while (states.length <= stream) states.push(undefined);
    const { state, broken } = rules.judge(
      states[stream] ?? rules.initial,
      event,
      event.stream.slice(dash + 1),
    );
    states[stream] = state;
    if (broken !== null)
      this.violations.add({ position: event.position, rule: `${event.stream}, ${event.type}: ${broken}` });
  }
}
