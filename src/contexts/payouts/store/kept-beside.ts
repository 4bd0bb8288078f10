import type { Database } from '../../../platform/postgres/database.js';

/** What a recheck asks of the tables of payouts. */
export class KeptBeside {
  constructor(private readonly database: Pick<Database, 'query'>) {}

  /** Addresses of wallets by user. */
  async wallets(userIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
    if (userIds.length === 0) return new Map();
    const rows = await this.database.query<{ user_id: string; address: string }>(
      'select user_id, address from payouts.wallets where user_id = any($1::uuid[])',
      [userIds],
    );
    return new Map(rows.map(({ user_id, address }) => [user_id, address]));
  }

  /** Those of the receipts whose bytes do not have the hash that they are kept under. */
  async altered(sha256s: readonly string[]): Promise<ReadonlySet<string>> {
    if (sha256s.length === 0) return new Set();
    const rows = await this.database.query<{ name: string }>(
      `select encode(kept.sha256, 'hex') as name from payouts.receipts kept
       where kept.sha256 in (select decode(name, 'hex') from unnest($1::text[]) as asked (name))
         and kept.sha256 <> sha256(convert_to(kept.receipt, 'UTF8'))`,
      [sha256s],
    );
    return new Set(rows.map(({ name }) => name));
  }
}
