import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { PoolClient } from 'pg';
import { DomainError } from '../../kernel/domain-error.js';
import { changedBefore, recordRowChange } from '../postgres/row-changes.js';
import { Database } from '../postgres/database.js';
import { lacking, type MasterKey, type MasterKeys } from './key-ring.js';
import { addCopies, changeRing, NOTED_SECONDS, ROOT_ID, type KeyCopy } from './key-ring-store.js';
import { keyId } from './sealer.js';

/** The delay before a new key seals, in which all running processes read it. */
export const FRESH_AFTER_SECONDS = 60;
/** A master key that no process has used for this long counts as retired. */
const QUIET_SECONDS = 4 * NOTED_SECONDS;

interface MasterUse {
  readonly id: string;
  readonly setting: 'MASTER_KEY' | 'MASTER_KEY_FORMER' | null;
  /** The number of keys with a copy for this master key. */
  readonly keys: number;
  readonly seen_seconds_ago: number | null;
}

interface RingKey {
  readonly id: string;
  /** The time from which the key seals. The newest key past its time seals; the others only open. */
  readonly seals_from: Date | null;
  /** The number of texts that this key sealed, by name: `personal_keys`, and the names of SealedTexts. */
  readonly sealed: Readonly<Record<string, number>>;
}

/** The queries for sealed texts (column `sealed`) that a rotation does not seal again, by name. */
export type SealedTexts = Readonly<Record<string, string>>;

export type RingStatus = Awaited<ReturnType<typeof ringStatus>>;

const MASTERS = `select master_id as id, count(*)::int as keys,
  extract(epoch from now() - max(seen_at))::int as seen_seconds_ago
  from platform.key_ring group by master_id order by min(created_at)`;

const KEYS = `select key_id as id, min(seals_from) as seals_from
  from platform.key_ring where key_id <> $1 group by key_id order by 2 nulls first, 1`;

const PERSONAL_KEYS =
  'select wrapped_key as sealed from platform.personal_keys where wrapped_key is not null';

export async function ringStatus(database: Database, { current, former }: MasterKeys, texts: SealedTexts) {
  const masters = await database.query<Omit<MasterUse, 'setting'>>(MASTERS);
  const findSetting = (id: string): MasterUse['setting'] =>
    id === current.id ? 'MASTER_KEY' : id === former?.id ? 'MASTER_KEY_FORMER' : null;
  const queries = Object.entries({ personal_keys: PERSONAL_KEYS, ...texts });
  const sealed = queries.map(([name, query]) => `select '${name}' as name, sealed from (${query}) ${name}`);
  const counts = await database.query<{ name: string; id: string; count: number }>(
    `select name, split_part(sealed, '.', 2) as id, count(*)::int as count
     from (${sealed.join(' union all ')}) texts group by 1, 2`,
  );
  const count = (key: string, name: string): number =>
    counts.find((each) => each.id === key && each.name === name)?.count ?? 0;
  const keys = await database.query<Omit<RingKey, 'sealed'>>(KEYS, [ROOT_ID]);
  return {
    masters: masters.map((each): MasterUse => ({ ...each, setting: findSetting(each.id) })),
    keys: keys.map((key): RingKey => {
      return { ...key, sealed: Object.fromEntries(queries.map(([name]) => [name, count(key.id, name)])) };
    }),
  };
}

/** Changes the key ring, at most once per operation. A new key seals after FRESH_AFTER_SECONDS. */
@Injectable()
export class KeyRotation {
  constructor(private readonly database: Database) {}

  /** Adds a key. Throws `invalid_transition` if the settings lack a master key that the ring uses. */
  async addFreshKey({ current, former }: MasterKeys, operationId?: string): Promise<string> {
    return changeRing(this.database, async (tx, copies) => {
      const [created] = await changedBefore(tx, operationId, 'sealing_key');
      if (created !== undefined) return created;
      const masters = findMasters(copies);
      const wrapping = masters.flatMap((id) => [current, former].find((each) => each?.id === id) ?? []);
      if (wrapping.length < masters.length) {
        throw new DomainError(
          'invalid_transition',
          'The ring has copies for a master key that is neither MASTER_KEY nor MASTER_KEY_FORMER: set that key too, or begin with npm run admin -- system retire-former',
        );
      }
      return freshKey(tx, wrapping, operationId);
    });
  }

  /** Deletes the key copies for other master keys. Throws `invalid_transition` while a process uses one. */
  async retireFormer({ current }: MasterKeys, operationId?: string): Promise<readonly string[]> {
    return changeRing(this.database, async (tx, copies) => {
      const others = findMasters(copies).filter((id) => id !== current.id);
      if (others.length === 0) return changedBefore(tx, operationId, 'master_key');
      if (lacking(copies, current).length > 0) {
        throw new DomainError('invalid_transition', 'MASTER_KEY lacks a copy of some keys');
      }
      const seen = await tx.query(
        `select from platform.key_ring where master_id = any($1) and seen_at > now() - make_interval(secs => $2)`,
        [others, QUIET_SECONDS],
      );
      if (seen.rowCount !== 0) {
        throw new DomainError(
          'invalid_transition',
          `A process used a former key within the last ${QUIET_SECONDS} seconds: start every process with the new MASTER_KEY, then wait that long`,
        );
      }
      await tx.query('delete from platform.key_ring where master_id = any($1)', [others]);
      for (const id of others) await recordRowChange(tx, operationId, 'master_key', id);
      await freshKey(tx, [current], operationId);
      return others;
    });
  }
}

function findMasters(copies: readonly KeyCopy[]): readonly string[] {
  return [...new Set(copies.map(({ master_id }) => master_id))];
}

async function freshKey(
  tx: PoolClient,
  masters: readonly MasterKey[],
  operationId?: string,
): Promise<string> {
  const { rows } = await tx.query<{ at: Date }>('select now() + make_interval(secs => $1) as at', [
    FRESH_AFTER_SECONDS,
  ]);
  const fresh = randomBytes(32);
  const id = keyId(fresh);
  const copies = masters.map((master) => master.wrap(id, fresh, rows[0]!.at));
  await addCopies(tx, copies);
  await recordRowChange(tx, operationId, 'sealing_key', id);
  return id;
}
