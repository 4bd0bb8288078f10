import { DomainError } from '../../../kernel/domain-error.js';
import { isUuid } from '../../../kernel/ids.js';
import { isFence } from '../../../platform/event-store/claims.js';
import { logPages } from '../../../platform/event-store/log-pages.js';
import { comparePositions, type EventStore, type RecordedEvent } from '../../../platform/event-store/port.js';
import { PAYOUT_CATEGORY } from '../../payouts/contract.js';
import type { UserCreated } from '../../users/contract.js';
import { MOMENT_FORMS, readMoment, type Moment } from '../domain/moment.js';

const STREAMS_AT_ONCE = 8;

/** What is read of the log. */
export type Log = Pick<EventStore, 'head' | 'readAll' | 'readStream'>;

/** A user, and everything that happened to their payouts up to a moment, in the order of the log. */
export interface UserHistory {
  readonly userId: string;
  readonly merchantId: string;
  readonly createdAt: Date;
  /** Of the last event that was looked at. */
  readonly position: string;
  readonly events: readonly RecordedEvent[];
  /** How many events were read for it. */
  readonly read: number;
}

export interface HistoryOptions {
  /** As an operator writes it; the end of the log when absent. */
  readonly at?: string;
  /** Which payouts a user has, for those who believe the read model; without it the log is read. */
  readonly payoutsOf?: (merchantId: string, userId: string) => Promise<readonly string[]>;
  readonly now: Date;
  /** Called after every page. */
  readonly progress?: (read: number, position: string) => void;
}

/** As it stands in names of streams. Throws DomainError. */
export function idOf(what: string, id: string): string {
  if (!isUuid(id)) throw new DomainError('bad_request', `${id} is no id of a ${what}: a uuid is.`);
  return id.toLowerCase();
}

/**
 * The payouts of a user as the events tell them. Nobody is paid before they are created: the log is read from there on,
 * up to the moment, and nothing of it is kept but the user's own. Throws DomainError: no such user, no such moment.
 */
export async function userHistory(log: Log, id: string, options: HistoryOptions): Promise<UserHistory> {
  const userId = idOf('user', id);
  const first = (await log.readStream(`user-${userId}`)).find((event) => !isFence(event));
  if (first === undefined) throw new DomainError('not_found', `The log knows no user ${userId}.`);
  const end = (await log.head())!;
  const moment = momentOf(options, first, end);
  const { merchant_id: merchantId } = first.data as unknown as UserCreated['data'];
  const found =
    options.payoutsOf === undefined
      ? await scan(log, userId, first.position, until(moment, end), options.progress)
      : await gather(log, await options.payoutsOf(merchantId, userId), first.position, until(moment, end));
  return { userId, merchantId, createdAt: first.recordedAt, ...found };
}

function momentOf({ at, now }: HistoryOptions, first: RecordedEvent, end: string): Moment {
  if (at === undefined) return null;
  const moment = readMoment(at);
  const created = `The user was created at position ${first.position}, ${first.recordedAt.toISOString()}`;
  if (moment === null) throw new DomainError('bad_request', `--at takes ${MOMENT_FORMS}.`);
  if (moment.kind === 'position') {
    if (comparePositions(moment.position, end) > 0)
      throw new DomainError('bad_request', `The log ends at position ${end}.`);
    if (comparePositions(moment.position, first.position) < 0)
      throw new DomainError('bad_request', `${created}: before, there is no balance to tell.`);
    return moment;
  }
  if (moment.time > now)
    throw new DomainError('bad_request', `${moment.time.toISOString()} is in the future.`);
  if (moment.time < first.recordedAt)
    throw new DomainError('bad_request', `${created}: before, there is no balance to tell.`);
  return moment;
}

type Until = (event: RecordedEvent) => boolean;

/** Of a time: up to the first event that was recorded later. */
function until(moment: Moment, end: string): Until {
  if (moment?.kind === 'time') {
    const { time } = moment;
    return ({ recordedAt, position }) => recordedAt <= time && comparePositions(position, end) <= 0;
  }
  const last = moment?.position ?? end;
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
