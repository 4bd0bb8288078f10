import { ApiProperty } from '../../platform/dto/field.js';
import { USDC, UUID } from '../../platform/dto/rules.js';
import { publication, type Publication, type WebhookContent } from '../../platform/context.js';
import {
  PAYOUT_EXPIRED,
  PAYOUT_RECEIVED,
  type PayoutExpired,
  type PayoutFacts,
  type PayoutReceived,
} from './payouts/payout-events.js';

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

function content(facts: PayoutFacts, occurredAt: string, detail: object): WebhookContent {
  const { payout_id, user_id, amount, currency_code, custom_metadata } = facts;
  const fields = { payout_id, user_id, amount, currency_code, ...detail };
  return { occurredAt, fields, text: ['custom_metadata', custom_metadata] };
}

/** The webhook publications of payouts, by type of event (contract.md 13.5). */
export const PAYOUT_PUBLISHES: Readonly<Record<string, Publication>> = {
  [PAYOUT_RECEIVED]: publication<PayoutReceived>(
    { type: 'payout.received', when: 'The transfer of a payout is verified.', data: PayoutReceivedData },
    (data) => content(data, data.received_at, { transaction_hash: data.transaction_hash }),
  ),
  [PAYOUT_EXPIRED]: publication<PayoutExpired>(
    { type: 'payout.failed', when: 'A payout expired.', data: PayoutFailedData },
    (data) => content(data, data.expired_at, { reason: data.reason }),
  ),
};
