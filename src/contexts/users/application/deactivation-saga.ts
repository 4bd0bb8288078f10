import type { PoolClient } from 'pg';
import { comparePositions, type EventStore, type RecordedEvent } from '../../../platform/event-store/port.js';
import type { SubscriptionDefinition } from '../../../platform/projections/projection.js';
import {
  PAYOUT_EXPIRED,
  PAYOUT_INTENDED,
  PAYOUT_RECEIVED,
  PAYOUT_REPORTED,
  type PayoutIntent,
} from '../../payouts/contract.js';

export const DEACTIVATION_SAGA = 'users.deactivation';

/** How each event moves the count of a user's pending payouts, or where the user is on the way out. */
const EFFECTS: Readonly<Record<string, { readonly pending?: 1 | -1; readonly deactivating?: boolean }>> = {
  [PAYOUT_INTENDED]: {},
  [PAYOUT_REPORTED]: { pending: 1 },
  [PAYOUT_RECEIVED]: { pending: -1 },
  [PAYOUT_EXPIRED]: { pending: -1 },
  'user.deactivation_started.v1': { deactivating: true },
  'user.deactivated.v1': { deactivating: false },
};

interface Row {
  readonly pending: number;
  readonly deactivating: boolean;
  /** Position of the last event counted: an event at or before it was seen already. */
  readonly position: string | null;
}
const NOTHING_SEEN: Row = { pending: 0, deactivating: false, position: null };

/**
 * Knows which users wait to be deactivated and how many of their payouts are pending. A report checks the revision of
 * the user's stream, so every payout stands before the start of the deactivation: once that start is counted,
 * the number can only fall. On a store that is not atomic the intent of every payout does, and the payout may follow
 * until its stream is fenced (complete-deactivation.ts): so intents without a payout are kept too.
 */
export function deactivationSaga(
  wake: () => void,
  { atomic }: Pick<EventStore, 'atomic'>,
): SubscriptionDefinition {
  return {
    name: DEACTIVATION_SAGA,
    events: Object.keys(EFFECTS),
    gatherMs: 200,
    async apply(events, tx) {
      const before = await load(tx, [...new Set(events.map(userOf))]);
      if (!atomic)
        await keepIntents(
          tx,
          events.filter((event) => isNew(event, before)),
        );
      await store(tx, count(events, before));
    },
    afterCommit: wake,
  };
}

function userOf(event: RecordedEvent): string {
  return (event.data as { readonly user_id: string }).user_id;
}

function count(events: readonly RecordedEvent[], rows: Map<string, Row>): Map<string, Row> {
  for (const event of events) {
    const effect = EFFECTS[event.type];
    const row = rows.get(userOf(event)) ?? NOTHING_SEEN;
    if (effect === undefined || !isNew(event, rows)) continue;
    rows.set(userOf(event), {
      pending: row.pending + (effect.pending ?? 0),
      deactivating: effect.deactivating ?? row.deactivating,
      position: event.position,
    });
  }
  return rows;
}

function isNew(event: RecordedEvent, rows: ReadonlyMap<string, Row>): boolean {
  return comparePositions(event.position, rows.get(userOf(event))?.position ?? null) > 0;
}

/** A payout is reported after it was intended, once at most: what is reported here can be told apart from the whole batch. */
async function keepIntents(tx: PoolClient, events: readonly RecordedEvent[]): Promise<void> {
  const open = new Map<string, string>();
  const reported: string[] = [];
  for (const { type, data } of events) {
    const { payout_id, user_id } = data as unknown as PayoutIntent;
    if (type === PAYOUT_INTENDED) open.set(payout_id, user_id);
    if (type === PAYOUT_REPORTED) reported.push(payout_id);
  }
  for (const id of reported) open.delete(id);
  await tx.query(
    `insert into users.payout_intents (payout_id, user_id)
     select * from unnest($1::uuid[], $2::uuid[]) on conflict do nothing`,
    [[...open.keys()], [...open.values()]],
  );
  await tx.query('delete from users.payout_intents where payout_id = any($1)', [reported]);
}

async function load(tx: PoolClient, userIds: readonly string[]): Promise<Map<string, Row>> {
  const { rows } = await tx.query<{
    user_id: string;
    pending_payouts: string;
    deactivating: boolean;
    position: string;
  }>(
    'select user_id, pending_payouts, deactivating, position from users.deactivations where user_id = any($1)',
    [userIds],
  );
  return new Map(
    rows.map((row) => [
      row.user_id,
      { pending: Number(row.pending_payouts), deactivating: row.deactivating, position: row.position },
    ]),
  );
}

async function store(tx: PoolClient, rows: ReadonlyMap<string, Row>): Promise<void> {
  const all = [...rows.values()];
  await tx.query(
    `insert into users.deactivations (user_id, pending_payouts, deactivating, position)
     select * from unnest($1::uuid[], $2::bigint[], $3::boolean[], $4::text[])
     on conflict (user_id) do update set pending_payouts = excluded.pending_payouts,
       deactivating = excluded.deactivating, position = excluded.position`,
    [
      [...rows.keys()],
      all.map((row) => row.pending),
      all.map((row) => row.deactivating),
      all.map((row) => row.position),
    ],
  );
}
