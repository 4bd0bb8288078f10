import { DomainError } from '../../../kernel/domain-error.js';
import { instantParameter, type Query } from '../../../platform/http/query.js';

const DAY_MS = 86_400_000;
const DEFAULT_MS = DAY_MS;
const LONGEST_DAYS = 30;

/** From when statistics are asked for: 24 hours ago by default, 30 days at most. 400 otherwise. */
export function readStatsSince(query: Query, now: Date): Date {
  const since = instantParameter(query, 'since');
  if (since === undefined) return new Date(now.getTime() - DEFAULT_MS);
  if (since > now) throw new DomainError('bad_request', 'since must not be in the future');
  if (now.getTime() - since.getTime() > LONGEST_DAYS * DAY_MS) {
    throw new DomainError('bad_request', `since must lie within the last ${LONGEST_DAYS} days`);
  }
  return since;
}
