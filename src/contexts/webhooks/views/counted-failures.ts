import { FAILURE_COUNT_LIMIT } from '../domain/endpoint-json.js';

/**
 * SQL: whether a row `attempt` of `webhooks.attempts` counts as a failure of the row `lane` of `webhooks.lanes`
 * (contract.md 15). Whatever was no success counts, in a window of so many seconds that ends at `now`, since
 * the endpoint was enabled. The index `attempts_failed` has these rows in the order of time.
 */
export function counts(now: string, windowSeconds: string): string {
  return `attempt.endpoint_id = lane.endpoint_id and attempt.outcome <> 'succeeded'
    and attempt.started_at > lane.failures_since
    and attempt.started_at >= ${now}::timestamptz - make_interval(secs => ${windowSeconds})`;
}

/** SQL: how many attempts {@link counts} for a row `lane`, up to a limit. */
export function failureCount(now: string, windowSeconds: string): string {
  return `(select count(*)::int from (
    select from webhooks.attempts attempt where ${counts(now, windowSeconds)} limit ${FAILURE_COUNT_LIMIT}) counted)`;
}
