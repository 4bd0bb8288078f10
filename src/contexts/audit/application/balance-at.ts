import { comparePositions } from '../../../platform/event-store/port.js';
import type { AuditedPayouts, Figures } from '../../payouts/contract.js';
import { Account, type AccountPayout } from '../domain/account.js';
import { idOf, userHistory, type HistoryOptions, type Log, type UserHistory } from './user-history.js';

/** What the API says, and what the events say up to where its read model stands. */
export interface ApiSays {
  readonly position: string | null;
  readonly figures: Figures | null;
  readonly by_the_events: Figures;
  readonly agrees: boolean;
}

/** The balance of a user at a moment, and the payouts that make it up, in the order of their reports. */
export interface BalanceAt {
  readonly history: UserHistory;
  readonly figures: Figures;
  readonly payouts: readonly AccountPayout[];
  /** Null when another moment than now was requested. */
  readonly api: ApiSays | null;
}

/** Throws as {@link userHistory} does. */
export async function balanceAt(
  log: Log,
  tables: Pick<AuditedPayouts, 'balanceOf'>,
  id: string,
  options: HistoryOptions,
): Promise<BalanceAt> {
  const userId = idOf('user', id);
  // Before the log is read: what the read model has is then in the log.
  const api = options.at === undefined ? await tables.balanceOf(userId) : null;
  const history = await userHistory(log, userId, options);
  const account = new Account();
  const atCheckpoint = new Account();
  for (const event of history.events) {
    account.add(event);
    if (api !== null && comparePositions(event.position, api.position) <= 0) atCheckpoint.add(event);
  }
  const byTheEvents = atCheckpoint.figures;
  return {
    history,
    figures: account.figures,
    payouts: [...account.payouts.values()],
    api: api && { ...api, by_the_events: byTheEvents, agrees: isSame(api.figures, byTheEvents) },
  };
}

/** No row yet is no difference while there is nothing to tell. */
function isSame(a: Figures | null, b: Figures): boolean {
  return (a?.confirmed ?? '0') === b.confirmed && (a?.pending ?? '0') === b.pending;
}
