import type { Database } from '../../../platform/postgres/database.js';

interface Wallet {
  readonly [column: string]: unknown;
  readonly user_id: string;
  readonly address: string;
}

interface NamedTransfer {
  readonly hash: string;
  readonly userId: string;
}

/** Which transfers to the wallets of users does no payout name? */
export class UnreportedTransfers {
  constructor(private readonly database: Pick<Database, 'query'>) {}

  /** Users by their wallets, in lower case. */
  async wallets(): Promise<ReadonlyMap<string, string>> {
    const rows = await this.database.query<Wallet>('select user_id, address from payouts.wallets');
    return new Map(rows.map(({ user_id, address }) => [address.toLowerCase(), user_id]));
  }

  /** Of these, those whose transaction no payout to the user names, with any amount and outcome. */
  async without<Transfer extends NamedTransfer>(
    transfers: readonly Transfer[],
  ): Promise<readonly Transfer[]> {
    const rows = await this.database.query<{ hash: string; user_id: string }>(
      `select transaction_hash as hash, user_id from payouts.payouts
       where hashtextextended(transaction_hash, 0) = any(
         select hashtextextended(hash, 0) from unnest($1::text[]) hash
       ) and transaction_hash = any($1::text[])`,
      [[...new Set(transfers.map(({ hash }) => hash))]],
    );
    const named = new Set(rows.map((row) => `${row.hash} ${row.user_id}`));
    return transfers.filter(({ hash, userId }) => !named.has(`${hash} ${userId}`));
  }
}
