import { publication, type Publication } from '../../platform/context.js';
import { PAYOUT_EXPIRED, PAYOUT_RECEIVED, type PayoutExpired, type PayoutReceived } from './contract.js';

/** What endpoints hear of payouts (contract.md 13.5). */
export const PAYOUT_PUBLISHES: Readonly<Record<string, Publication>> = {
  [PAYOUT_RECEIVED]: publication<PayoutReceived>('payout.received', (data) => {
    const { payout_id, user_id, amount, currency_code, transaction_hash, custom_metadata } = data;
    return {
      occurredAt: data.received_at,
      fields: { payout_id, user_id, amount, currency_code, transaction_hash },
      text: ['custom_metadata', custom_metadata],
    };
  }),
  [PAYOUT_EXPIRED]: publication<PayoutExpired>('payout.failed', (data) => {
    const { payout_id, user_id, amount, currency_code, reason, custom_metadata } = data;
    return {
      occurredAt: data.expired_at,
      fields: { payout_id, user_id, amount, currency_code, reason },
      text: ['custom_metadata', custom_metadata],
    };
  }),
};
