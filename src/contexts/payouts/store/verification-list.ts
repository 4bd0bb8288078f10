import type { PoolClient } from 'pg';
import { toMinorUnits } from '../../../kernel/money.js';
import type { UserActivated } from '../../users/contract.js';
import { comparableHash, type PayoutReceived, type PayoutReported } from '../contract.js';

/** What events do to the list of payouts to look up. */

export async function addWallets(
  activated: readonly UserActivated['data'][],
  tx: PoolClient,
  schema = 'payouts',
): Promise<void> {
  if (activated.length === 0) return;
  await tx.query(
    `insert into ${schema}.wallets (user_id, address)
     select * from unnest($1::uuid[], $2::text[]) on conflict (user_id) do nothing`,
    [activated.map((data) => data.user_id), activated.map((data) => data.issuer_wallet_address)],
  );
}

/** Payouts of these users are due: their wallets are known now. */
export async function wakeWork(activated: readonly UserActivated['data'][], tx: PoolClient): Promise<void> {
  if (activated.length === 0) return;
  await tx.query(
    `update payouts.verifications set next_check_at = now()
     where user_id = any($1::uuid[]) and next_check_at > now()`,
    [activated.map((data) => data.user_id)],
  );
}

export async function addWork(reported: readonly PayoutReported['data'][], tx: PoolClient): Promise<void> {
  if (reported.length === 0) return;
  await tx.query(
    `insert into payouts.verifications
       (payout_id, user_id, chain_id, hash, amount_minor, created_at, expires_at, merchant_id, next_check_at)
     select work.*, case when wallet.user_id is null then work.expires_at else now() end
     from unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::text[], $5::bigint[], $6::timestamptz[], $7::timestamptz[],
       $8::uuid[]) as work (payout_id, user_id, chain_id, hash, amount_minor, created_at, expires_at, merchant_id)
     left join payouts.wallets wallet on wallet.user_id = work.user_id
     on conflict (payout_id) do nothing`,
    [
      reported.map((data) => data.payout_id),
      reported.map((data) => data.user_id),
      reported.map((data) => data.chain_id),
      reported.map((data) => comparableHash(data.transaction_hash)),
      reported.map((data) => toMinorUnits(data.amount).toString()),
      reported.map((data) => data.created_at),
      reported.map((data) => data.expires_at),
      reported.map((data) => data.merchant_id),
    ],
  );
}

export async function noteUsedTransfers(
  received: readonly PayoutReceived['data'][],
  tx: PoolClient,
  schema = 'payouts',
): Promise<void> {
  if (received.length === 0) return;
  await tx.query(
    `insert into ${schema}.used_transfers (chain_id, hash, log_index, payout_id)
     select * from unnest($1::bigint[], $2::text[], $3::integer[], $4::uuid[]) on conflict do nothing`,
    [
      received.map((data) => data.chain_id),
      received.map((data) => comparableHash(data.transaction_hash)),
      received.map((data) => data.log_index),
      received.map((data) => data.payout_id),
    ],
  );
}

export async function removeWork(payoutIds: readonly string[], tx: PoolClient): Promise<void> {
  if (payoutIds.length === 0) return;
  await tx.query('delete from payouts.verifications where payout_id = any($1::uuid[])', [payoutIds]);
}
