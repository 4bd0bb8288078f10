import type { PoolClient } from 'pg';
import type { Database } from '../postgres/database.js';

/** The id of the root key, which never changes, because names in immutable events depend on it. */
export const ROOT_ID = 'root';

export interface KeyCopy {
  readonly key_id: string;
  readonly master_id: string;
  readonly wrapped: string;
  /** The time from which the key seals; null for the root, which seals nothing. */
  readonly seals_from: Date | null;
  /** True after `seals_from` by the clock of the database, which all processes share. */
  readonly seals_now: boolean;
}

export type NewCopy = Omit<KeyCopy, 'seals_now'>;

const RING_LOCK = 7_331_120;

const COPIES = `select key_id, master_id, wrapped_key as wrapped, seals_from,
  coalesce(seals_from <= now(), false) as seals_now from platform.key_ring order by created_at, key_id`;

export async function readCopies(database: Pick<Database, 'query'>): Promise<readonly KeyCopy[]> {
  return database.query<KeyCopy>(COPIES);
}

/** Locks the key ring and passes its wrapped keys to `work`, which may change the ring. */
export async function changeRing<T>(
  database: Database,
  work: (tx: PoolClient, copies: readonly KeyCopy[]) => Promise<T>,
): Promise<T> {
  return database.transaction(async (tx) => {
    await tx.query('select pg_advisory_xact_lock($1)', [RING_LOCK]);
    return work(tx, (await tx.query<KeyCopy>(COPIES)).rows);
  });
}

/** Checks whether a key was ever used. If so, an empty ring has lost its rows and must not be replaced. */
export async function hasSealed(tx: PoolClient): Promise<boolean> {
  const { rows } = await tx.query<{ sealed: boolean }>(
    `select exists (select from platform.personal_keys where wrapped_key is not null)
       or exists (select from event_store.events)
       or exists (select from event_store.checkpoints where position is not null) as sealed`,
  );
  return rows[0]!.sealed;
}

export async function addCopies(tx: PoolClient, copies: readonly NewCopy[]): Promise<void> {
  for (const { key_id, master_id, wrapped, seals_from } of copies) {
    await tx.query(
      `insert into platform.key_ring (key_id, master_id, wrapped_key, seals_from) values ($1, $2, $3, $4)
       on conflict do nothing`,
      [key_id, master_id, wrapped, seals_from],
    );
  }
}

export const NOTED_SECONDS = 30;

/** Records that a running process uses this master key. */
export async function noteProcess(database: Pick<Database, 'query'>, masterId: string): Promise<void> {
  await database.query(
    `update platform.key_ring set seen_at = now() where key_id = $1 and master_id = $2
     and (seen_at is null or seen_at < now() - make_interval(secs => $3))`,
    [ROOT_ID, masterId, NOTED_SECONDS],
  );
}
