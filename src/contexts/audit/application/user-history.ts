import { DomainError } from '../../../kernel/domain-error.js';
import { isUuid } from '../../../kernel/ids.js';
import { isFence } from '../../../platform/event-store/claims.js';
import { logPages } from '../../../platform/event-store/log-pages.js';
import { comparePositions, type EventStore, type RecordedEvent } from '../../../platform/event-store/port.js';
import { type AuditedPayouts, type Figures, PAYOUT_CATEGORY } from '../../payouts/contract.js';
import type { UserCreated } from '../../users/contract.js';
import { type LogPoint, POINT_FORMS, readPoint } from '../domain/log-point.js';
import { Account, type AccountPayout } from '../domain/account.js';

const STREAMS_AT_ONCE = 8;

/** What is read of the log. */
type Log = Pick<EventStore, 'head' | 'readAll' | 'readStream'>;

/** A user, and the events of their payouts up to a point of the log, in its order. */
interface UserHistory {
  readonly userId: string;
  readonly merchantId: string;
  readonly createdAt: Date;
  /** Of the last event that was read. */
  readonly position: string;
  readonly events: readonly RecordedEvent[];
  /** How many events were read for it. */
  readonly read: number;
}

interface HistoryOptions {
  /** As an operator writes it; the end of the log when absent. */
  readonly at?: string | undefined;
  /** The read model says which payouts the user has; without it the log is read. */
  readonly quick?: boolean | undefined;
  /** Called after every page. */
  readonly progress?: (read: number, position: string) => void;
}

/** As in names of streams. Throws DomainError. */
export function requireId(what: string, id: string): string {
  if (!isUuid(id)) throw new DomainError('bad_request', `${id} is no id of a ${what}: a uuid is.`);
  return id.toLowerCase();
}

/**
 * The payouts of a user from their events. Payouts follow the creation of the user: the log is read from there up to the
 * point, and only the user's own events are retained. Throws DomainError: no such user, no such point.
 */
async function historyOfUser(
  log: Log,
  tables: Pick<AuditedPayouts, 'payoutsOf'>,
  id: string,
  { at, quick = false, progress }: HistoryOptions,
): Promise<UserHistory> {
  const userId = requireId('user', id);
  const created = (await log.readStream(`user-${userId}`)).find((event) => !isFence(event));
  if (created === undefined) throw new DomainError('not_found', `The log knows no user ${userId}.`);
  const end = (await log.head())!;
  const within = until(pointOf(at, created, end), end);
  const { merchant_id: merchantId } = (created as RecordedEvent & UserCreated).data;
  const found = quick
    ? await gather(log, await tables.payoutsOf(merchantId, userId), created.position, within)
    : await scan(log, userId, created.position, within, progress);
  return { userId, merchantId, createdAt: created.recordedAt, ...found };
}

function pointOf(at: string | undefined, first: RecordedEvent, end: string): LogPoint {
  if (at === undefined) return null;
  const refuse = (why: string): never => {
    throw new DomainError('bad_request', why);
  };
  const point = readPoint(at) ?? refuse(`--at takes ${POINT_FORMS}.`);
  const isBefore =
    point.kind === 'position'
      ? comparePositions(point.position, first.position) < 0
      : point.time < first.recordedAt;
  if (isBefore)
    refuse(
      `The user was created at position ${first.position}, ${first.recordedAt.toISOString()}: before, there is no balance.`,
    );
  if (point.kind === 'time' && point.time > new Date())
    refuse(`${point.time.toISOString()} is in the future.`);
  if (point.kind === 'position' && comparePositions(point.position, end) > 0)
    refuse(`The log ends at position ${end}.`);
  return point;
}

type Until = (event: RecordedEvent) => boolean;

/** Of a time: up to the first event that was recorded later. */
function until(point: LogPoint, end: string): Until {
  if (point?.kind === 'time') {
    const { time } = point;
    return ({ recordedAt, position }) => recordedAt <= time && comparePositions(position, end) <= 0;
  }
  const last = point?.position ?? end;
  return ({ position }) => comparePositions(position, last) <= 0;
}

type Found = Pick<UserHistory, 'position' | 'events' | 'read'>;

async function scan(
  log: Log,
  userId: string,
  from: string,
  within: Until,
  progress: HistoryOptions['progress'],
): Promise<Found> {
  const events: RecordedEvent[] = [];
  const streams = new Set<string>();
  let [read, position] = [0, from];
  for await (const page of logPages(log, { after: from })) {
    for (const event of page) {
      if (!within(event)) return { events, position, read };
      read += 1;
      position = event.position;
      // The data of an outcome need not be parsed: its stream is the payout's.
      if (event.type.startsWith('payout.reported.') && event.data['user_id'] === userId)
        streams.add(event.stream);
      if (streams.has(event.stream)) events.push(event);
    }
    progress?.(read, position);
  }
  return { events, position, read };
}

async function gather(log: Log, payoutIds: readonly string[], from: string, within: Until): Promise<Found> {
  const all: RecordedEvent[] = [];
  for (let next = 0; next < payoutIds.length; next += STREAMS_AT_ONCE) {
    const ids = payoutIds.slice(next, next + STREAMS_AT_ONCE);
    const streams = await Promise.all(ids.map((each) => log.readStream(`${PAYOUT_CATEGORY}-${each}`)));
    all.push(...streams.flat());
  }
  const events = all
    .filter((event) => !isFence(event) && within(event))
    .sort((a, b) => comparePositions(a.position, b.position));
  return { events, position: events.at(-1)?.position ?? from, read: all.length };
}

/** The figures of the API, and those of the events up to the checkpoint of its read model. */
interface ApiSays {
  readonly position: string | null;
  readonly figures: Figures | null;
  readonly by_the_events: Figures;
  readonly agrees: boolean;
}

/** The balance of a user at a point, and the payouts that make it up, in the order of their reports. */
export interface BalanceAt {
  readonly history: UserHistory;
  readonly figures: Figures;
  readonly payouts: readonly AccountPayout[];
  /** Null when an earlier point was requested. */
  readonly api: ApiSays | null;
}

/** Throws as {@link historyOfUser} does. */
export async function balanceAt(
  log: Log,
  tables: AuditedPayouts,
  id: string,
  options: HistoryOptions,
): Promise<BalanceAt> {
  const userId = requireId('user', id);
  // Before the log is read: what the read model has is then in the log.
  const api = options.at === undefined ? await tables.balanceOf(userId) : null;
  const history = await historyOfUser(log, tables, userId, options);
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

/** A missing row equals a balance of 0. */
function isSame(a: Figures | null, b: Figures): boolean {
  return (a?.confirmed ?? '0') === b.confirmed && (a?.pending ?? '0') === b.pending;
}
