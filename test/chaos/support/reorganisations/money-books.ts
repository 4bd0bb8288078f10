import type pg from 'pg';
import { checkMoney } from '../orders/order-facts.js';
import type { Payee } from '../payouts.js';
import type { Verdict } from '../verdict.js';
import { balanceOf, transfersOf, type Transfer } from './token-transfers.js';

/** A payout with its transaction, which the chain confirms or not. */
export interface Reported {
  readonly id: string;
  readonly payee: Payee;
  readonly minor: number;
  readonly hash: string;
}

interface Compared {
  readonly pool: pg.Pool;
  readonly rpcUrl: string;
  readonly usdcAddress: string;
  readonly reported: readonly Reported[];
  /** Deposit addresses by order. */
  readonly deposits: ReadonlyMap<string, string>;
}

/** Compares all money of payouts and orders with a chain that no longer changes. */
export async function checkAgainstChain(
  { pool, rpcUrl, usdcAddress, reported, deposits }: Compared,
  verdict: Verdict,
  say: (line: string) => void,
): Promise<void> {
  const onChain = await transfersOf(rpcUrl, usdcAddress);
  const transfersTo = (address: string): readonly Transfer[] => onChain.get(address.toLowerCase()) ?? [];
  for (const address of new Set([...reported.map(({ payee }) => payee.wallet), ...deposits.values()])) {
    const came = transfersTo(address).reduce((sum, { minor }) => sum + minor, 0n);
    if ((await balanceOf(rpcUrl, usdcAddress, address)) !== came)
      throw new Error(`the transfers to ${address} are not its balance`);
  }
  const due = reported.filter(({ payee, minor, hash }) =>
    transfersTo(payee.wallet).some((each) => each.hash === hash && each.minor === BigInt(minor)),
  );
  const { rows } = await pool.query<{ line: string }>(
    `select concat_ws(' ', data::json->>'payout_id', data::json->>'value') as line
     from event_store.events where type = 'payout.received.v2'`,
  );
  verdict.equal(
    rows
      .map(({ line }) => line)
      .sort()
      .join('\n'),
    due
      .map(({ id, minor }) => `${id} ${minor}`)
      .sort()
      .join('\n'),
    'payouts received are those on the chain',
  );
  say(`${due.length} of ${reported.length} payouts received`);
  const sent = [...deposits].flatMap(([orderId, address]) =>
    transfersTo(address).map((transfer) => ({ orderId, ...transfer })),
  );
  await checkMoney(pool, sent, verdict, say);
}
