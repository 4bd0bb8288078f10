import { createHash } from 'node:crypto';
import type pg from 'pg';
import { deriveId } from '../../../../src/kernel/ids.js';
import { typesOf } from './merchants.js';
import type { Hook } from './receivers.js';

/** A delivery that has to arrive, by the events alone. */
export interface Expected {
  readonly hook: Hook;
  /** SHA-256 of the envelope as base64. */
  readonly bodyHash: string;
}

interface OutcomeEvent {
  readonly id: string;
  readonly type: 'payout.received.v2' | 'payout.expired.v1';
  readonly data: string;
}

/**
 * Returns every delivery by its webhook-id, from the stored events. Ids and envelopes are written here
 * independently (contract.md 13.1, 13.5), so that deliveries are not checked by their own table.
 */
export async function expectedDeliveries(
  pool: pg.Pool,
  hooks: readonly Hook[],
): Promise<ReadonlyMap<string, Expected>> {
  const { rows } = await pool.query<OutcomeEvent>(
    `select id, type, data from event_store.events where type in ('payout.received.v2', 'payout.expired.v1')`,
  );
  const byMerchant = new Map<string, Hook[]>();
  for (const hook of hooks)
    byMerchant.set(hook.merchantId, [...(byMerchant.get(hook.merchantId) ?? []), hook]);
  const expected = new Map<string, Expected>();
  for (const event of rows) {
    const data = JSON.parse(event.data) as Record<string, string>;
    const type = event.type === 'payout.expired.v1' ? 'payout.failed' : 'payout.received';
    for (const hook of byMerchant.get(data['merchant_id']!) ?? []) {
      if (typesOf(hook)?.includes(type) === false) continue;
      const id = deriveId(event.id, hook.endpointId);
      const body = envelope(id, type, data);
      expected.set(id, { hook, bodyHash: createHash('sha256').update(body).digest('base64') });
    }
  }
  return expected;
}

function envelope(
  id: string,
  type: 'payout.received' | 'payout.failed',
  data: Record<string, string>,
): string {
  const received = type === 'payout.received';
  const occurredAt = received ? data['received_at'] : data['expired_at'];
  const last = received ? 'transaction_hash' : 'reason';
  const fields = ['payout_id', 'user_id', 'amount', 'currency_code', last].map(
    (name) => `"${name}":${JSON.stringify(data[name])}`,
  );
  return (
    `{"id":"${id}","type":"${type}","occurred_at":"${occurredAt}","merchant_id":"${data['merchant_id']}",` +
    `"data":{${fields.join(',')},"custom_metadata":${data['custom_metadata']}}}`
  );
}
