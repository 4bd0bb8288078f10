import type { Database } from '../../../platform/postgres/database.js';

interface Wallet {
  readonly [column: string]: unknown;
  readonly user_id: string;
  readonly address: string;
}

interface NamedTransfer {
  readonly hash: string;
  readonly userId: string;
  readonly amountMinor: bigint;
}

/** Which transfers to the wallets of users does no payout name? */
export class UnreportedTransfers {
  constructor(private readonly database: Pick<Database, 'query'>) {}

  /** Users by their wallets, in lower case. */
  async wallets(): Promise<ReadonlyMap<string, string>> {
    const rows = await this.database.query<Wallet>('select user_id, address from payouts.wallets');
    return new Map(rows.map(({ user_id, address }) => [address.toLowerCase(), user_id]));
  }

  /** Of these, those that no payout to the user names, of any amount and outcome. */
  async without<Transfer extends NamedTransfer>(
    transfers: readonly Transfer[],
  ): Promise<readonly Transfer[]> {
    const rows = await this.database.query<{ hash: string; user_id: string; amount: string }>(
      `select transaction_hash as hash, user_id, amount_minor as amount from payouts.payouts
       where hashtextextended(transaction_hash, 0) = any(
         select hashtextextended(hash, 0) from unnest($1::text[]) hash
       ) and transaction_hash = any($1::text[])`,
      [[...new Set(transfers.map(({ hash }) => hash))]],
    );
    const left = new Map<string, bigint[]>();
    for (const { hash, user_id, amount } of rows) {
      const key = `${hash} ${user_id}`;
      left.set(key, [...(left.get(key) ?? []), BigInt(amount)]);
    }
    const isNamed = ({ hash, userId, amountMinor }: NamedTransfer, anyAmount: boolean): boolean => {
      const payouts = left.get(`${hash} ${userId}`) ?? [];
      const place = payouts.findIndex((amount) => anyAmount || amount === amountMinor);
      if (place !== -1) payouts.splice(place, 1);
      return place !== -1;
    };
    // A transaction may pay a user twice: each payout names one of its transfers, that of its amount where there is one.
    return transfers.filter((each) => !isNamed(each, false)).filter((each) => !isNamed(each, true));
  }
}
