import type { PoolClient } from 'pg';
import type { RecordedEvent } from '../../../platform/event-store/port.js';
import type { SubscriptionDefinition } from '../../../platform/projections/projection.js';
import { toMinorUnits } from '../../../kernel/money.js';
import type { UserActivated, UserEvent } from '../../users/contract.js';
import {
  comparableHash,
  PAYOUT_EVENTS,
  type PayoutEvent,
  type PayoutExpired,
  type PayoutReceived,
  type PayoutReported,
} from '../contract.js';

export const VERIFICATION_SAGA = 'payouts.verification';

/**
 * Keeps the list of payouts to look up on the chain: a report adds one, an outcome takes it off. A payout of a user
 * without a wallet rests until the wallet is there, or the window ends.
 */
export function verificationSaga(wake: () => void): SubscriptionDefinition {
  return {
    name: VERIFICATION_SAGA,
    events: ['user.activated.v1', ...PAYOUT_EVENTS],
    gatherMs: 50,
    apply: recordWork,
    afterCommit: wake,
  };
}

export async function recordWork(events: readonly RecordedEvent[], tx: PoolClient): Promise<void> {
  const activated: UserActivated['data'][] = [];
  const reported: PayoutReported['data'][] = [];
  const received: PayoutReceived['data'][] = [];
  const expired: PayoutExpired['data'][] = [];
  for (const recorded of events) {
    const event = recorded as unknown as PayoutEvent | UserEvent;
    if (event.type === 'user.activated.v1') activated.push(event.data);
    else if (event.type === 'payout.reported.v1') reported.push(event.data);
    else if (event.type === 'payout.received.v1') received.push(event.data);
    else if (event.type === 'payout.expired.v1') expired.push(event.data);
  }
  await addWallets(activated, tx);
  await addWork(reported, tx);
  await noteUsedTransfers(received, tx);
  await removeWork(
    [...received, ...expired].map((data) => data.payout_id),
    tx,
  );
}

async function addWallets(activated: readonly UserActivated['data'][], tx: PoolClient): Promise<void> {
  if (activated.length === 0) return;
  const users = activated.map((data) => data.user_id);
  await tx.query(
    `insert into payouts.wallets (user_id, address)
     select * from unnest($1::uuid[], $2::text[]) on conflict (user_id) do nothing`,
    [users, activated.map((data) => data.issuer_wallet_address)],
  );
  await tx.query(
    `update payouts.verifications set next_check_at = now()
     where user_id = any($1::uuid[]) and next_check_at > now()`,
    [users],
  );
}

async function addWork(reported: readonly PayoutReported['data'][], tx: PoolClient): Promise<void> {
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

async function noteUsedTransfers(received: readonly PayoutReceived['data'][], tx: PoolClient): Promise<void> {
  if (received.length === 0) return;
  await tx.query(
    `insert into payouts.used_transfers (chain_id, hash, log_index, payout_id)
     select * from unnest($1::bigint[], $2::text[], $3::integer[], $4::uuid[]) on conflict do nothing`,
    [
      received.map((data) => data.chain_id),
      received.map((data) => comparableHash(data.transaction_hash)),
      received.map((data) => data.log_index),
      received.map((data) => data.payout_id),
    ],
  );
}

async function removeWork(payoutIds: readonly string[], tx: PoolClient): Promise<void> {
  if (payoutIds.length === 0) return;
  await tx.query('delete from payouts.verifications where payout_id = any($1::uuid[])', [payoutIds]);
}
