import { Fault } from '../../../kernel/fault.js';
import { ApiProperty, Field, Many, Nested, type Rule } from '../../../platform/dto/field.js';
import { oneOf, text, TIME, USDC, uuid, UUID } from '../../../platform/dto/rules.js';
import { createdPage, createdPageQuery, Filter, MAX_PAGE } from '../../../platform/http/page-query.js';
import { depthOf, JsonText } from '../../../platform/json-text/json-text.js';
import {
  METADATA_MAX_BYTES,
  METADATA_MAX_DEPTH,
  MAX_PAYOUT_AMOUNT,
  readPayoutAmount,
} from '../domain/payout.js';
import { Balance } from '../views/balances.js';
import type { PayoutFilter } from '../views/payouts.js';
import { Evidence } from '../views/evidence.js';

const STATUSES = ['pending', 'received', 'expired'] as const;
const HASH_MAX_LENGTH = 255;
// Text that PostgreSQL or UTF-8 cannot hold, and no part of a hash.
const UNPRINTABLE = /[\p{Cc}\p{Cs}]/u;

function readHash(hash: string): string | Fault {
  if (hash.trim() === '') return new Fault('must not be blank');
  if (hash.length > HASH_MAX_LENGTH) return new Fault(`must be at most ${HASH_MAX_LENGTH} characters`);
  return UNPRINTABLE.test(hash) ? new Fault('must hold no control characters') : hash;
}

/** The exact text of an object; `{}` where there is none. */
const metadata: Rule = {
  schema: { type: 'object' },
  read: (value) => {
    if (!(value instanceof JsonText)) return new Fault('must be an object');
    if (Buffer.byteLength(value.text) > METADATA_MAX_BYTES)
      return new Fault(`must be at most ${METADATA_MAX_BYTES} bytes`);
    return depthOf(value.text) > METADATA_MAX_DEPTH
      ? new Fault(`must nest at most ${METADATA_MAX_DEPTH} levels deep`)
      : value.text;
  },
};

class ReportedPayout {
  @Field(
    { schema: USDC, read: readPayoutAmount },
    { description: `More than 0 and at most ${MAX_PAYOUT_AMOUNT}, with up to 6 decimals.` },
  )
  amount!: string;

  @Field(text({ minLength: 1, maxLength: HASH_MAX_LENGTH }, readHash)) transaction_hash!: string;
  @Field(oneOf(['USDC']), { optional: true, nullable: true, default: 'USDC' }) currency_code?: 'USDC' | null;

  @Field(metadata, {
    optional: true,
    nullable: true,
    description: `Free-form; comes back byte for byte. At most ${METADATA_MAX_BYTES} bytes of JSON and ${METADATA_MAX_DEPTH} levels. null means none.`,
  })
  custom_metadata?: string | null;
}

/** Body of POST /merchants/v1/payouts/report (contract.md 9). */
export class PayoutReport {
  /** No uuid names no user: 404. */
  @Field(text(UUID)) user_id!: string;
  @Nested(() => ReportedPayout) payout!: ReportedPayout;
}

class Payout {
  @ApiProperty(UUID) id!: string;
  @ApiProperty(UUID) user_id!: string;
  @ApiProperty(USDC) amount!: string;
  @ApiProperty({ const: 'USDC' }) currency_code!: 'USDC';
  @ApiProperty({ type: 'string', enum: STATUSES }) status!: string;
  @ApiProperty({ type: 'string' }) transaction_hash!: string;

  @ApiProperty({ type: 'string', nullable: true, description: 'Why the payout expired; null otherwise.' })
  reason!: string | null;

  @ApiProperty({ type: 'object' }) custom_metadata!: object;
  @ApiProperty(TIME) created_at!: string;
}

export class PayoutResponse {
  @Nested(() => Payout) payout!: Payout;
}

/** Query of GET /merchants/v1/payouts. */
export class PayoutsQuery extends createdPageQuery(MAX_PAGE, 'Payouts per page.') {
  @Filter(uuid, 'Only payouts to this user.') user_id?: string;
  @Filter(oneOf(STATUSES), 'Only payouts in this status.') status?: (typeof STATUSES)[number];
}

export function payoutFilter(query: PayoutsQuery): PayoutFilter {
  return { ...createdPage(query), userId: query.user_id, status: query.status };
}

export class PayoutsResponse {
  @Many(() => Payout, { maxItems: MAX_PAGE }) payouts!: Payout[];
  @ApiProperty({ type: 'string', nullable: true }) next_cursor!: string | null;
}

export class BalanceResponse {
  @Nested(() => Balance) balance!: Balance;
}

export class EvidenceResponse {
  @Nested(() => Evidence) evidence!: Evidence;
}
