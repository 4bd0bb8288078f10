import { Injectable } from '@nestjs/common';
import type { PoolClient } from 'pg';
import { Database } from '../../../platform/postgres/database.js';

interface WalletIndex {
  /** Fingerprint of the extended public key. */
  readonly key: string;
  readonly index: number;
  readonly address: string;
}

export interface IndexedKey {
  readonly fingerprint: string;
  readonly firstIndex: number;
  addressAt(index: number): string;
}

interface Row extends Record<string, unknown> {
  readonly key: string;
  readonly index: string;
}

const INDEX_OF_USER = 'select key, index from onboarding.wallet_indexes where user_id = $1';

/**
 * The wallet of a user as a child of an extended public key. Addresses are derived, so that SQL cannot replace one. The row
 * of a key is locked while an index is assigned: no gaps, and no index twice.
 */
@Injectable()
export class WalletIndexes {
  constructor(private readonly database: Database) {}

  /** Assigns the next index to a user without one of `key`. */
  async of(userId: string, key: IndexedKey): Promise<WalletIndex> {
    const [row] = await this.database.query<Row>(INDEX_OF_USER, [userId]);
    return (
      indexOf(row, key) ??
      this.locked(key, async (tx, next) => (await find(tx, userId, key)) ?? (await next(userId)))
    );
  }

  /** Assigns the next index in place of `address`, unless that was replaced already. */
  async replace(userId: string, address: string, key: IndexedKey): Promise<void> {
    await this.locked(key, async (tx, next) => {
      const found = await find(tx, userId, key);
      if (found?.address === address) await next(userId);
    });
  }

  private async locked<T>(
    { fingerprint, firstIndex, addressAt }: IndexedKey,
    work: (tx: PoolClient, next: (userId: string) => Promise<WalletIndex>) => Promise<T>,
  ): Promise<T> {
    return this.database.transaction(async (tx) => {
      const { rows } = await tx.query<{ next_index: string }>(
        // An update that changes nothing locks the row, too.
        `insert into onboarding.wallet_keys as kept (key, next_index) values ($1, $2)
         on conflict (key) do update set next_index = greatest(kept.next_index, excluded.next_index)
         returning next_index`,
        [fingerprint, firstIndex],
      );
      let index = Number(rows[0]!.next_index);
      return work(tx, async (userId) => {
        const given = { key: fingerprint, index, address: addressAt(index) };
        index += 1;
        await tx.query('update onboarding.wallet_keys set next_index = $2 where key = $1', [
          fingerprint,
          index,
        ]);
        await tx.query(
          `insert into onboarding.wallet_indexes (user_id, key, index) values ($1, $2, $3)
           on conflict (user_id) do update set key = excluded.key, index = excluded.index`,
          [userId, given.key, given.index],
        );
        return given;
      });
    });
  }
}

async function find(tx: PoolClient, userId: string, key: IndexedKey): Promise<WalletIndex | null> {
  const { rows } = await tx.query<Row>(INDEX_OF_USER, [userId]);
  return indexOf(rows[0], key);
}

function indexOf(row: Row | undefined, { fingerprint, addressAt }: IndexedKey): WalletIndex | null {
  if (row?.key !== fingerprint) return null;
  const index = Number(row.index);
  return { key: fingerprint, index, address: addressAt(index) };
}
