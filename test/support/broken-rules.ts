import type { DomainEvent } from '../../src/kernel/aggregate.js';
import type { HistoryRules } from '../../src/kernel/history-rules.js';

/** Returns the rule that each event of a history breaks, or null. */
export function brokenRules(
  rules: HistoryRules,
  id: string,
  events: readonly DomainEvent[],
): readonly (string | null)[] {
  let { initial: state } = rules;
  return events.map((each) => {
    const evaluated = rules.evaluate(state, each, id);
    state = evaluated.state;
    return evaluated.broken;
  });
}
