import { ApiProperty } from '../../platform/dto/field.js';
import { USDC, UUID } from '../../platform/dto/rules.js';
import { publication, type Publication } from '../../platform/context.js';
import { PAYOUT_EXPIRED, PAYOUT_RECEIVED, type PayoutExpired, type PayoutReceived } from './contract.js';

class PayoutData {
  @ApiProperty(UUID) payout_id!: string;
  @ApiProperty(UUID) user_id!: string;
  @ApiProperty(USDC) amount!: string;
  @ApiProperty({ const: 'USDC' }) currency_code!: 'USDC';

  @ApiProperty({ type: 'object', description: 'As it was reported, byte for byte.' })
  custom_metadata!: object;
}

class PayoutReceivedData extends PayoutData {
  @ApiProperty({ type: 'string' }) transaction_hash!: string;
}

class PayoutFailedData extends PayoutData {
  @ApiProperty({ type: 'string' }) reason!: string;
}

/** The webhooks of payouts (contract.md 13.5). */
export const PAYOUT_PUBLISHES: Readonly<Record<string, Publication>> = {
  [PAYOUT_RECEIVED]: publication<PayoutReceived>(
    { type: 'payout.received', when: 'The transfer of a payout is verified.', data: PayoutReceivedData },
    (data) => {
      const { payout_id, user_id, amount, currency_code, transaction_hash, custom_metadata } = data;
      return {
        occurredAt: data.received_at,
        fields: { payout_id, user_id, amount, currency_code, transaction_hash },
        text: ['custom_metadata', custom_metadata],
      };
    },
  ),
  [PAYOUT_EXPIRED]: publication<PayoutExpired>(
    { type: 'payout.failed', when: 'A payout expired.', data: PayoutFailedData },
    (data) => {
      const { payout_id, user_id, amount, currency_code, reason, custom_metadata } = data;
      return {
        occurredAt: data.expired_at,
        fields: { payout_id, user_id, amount, currency_code, reason },
        text: ['custom_metadata', custom_metadata],
      };
    },
  ),
};
