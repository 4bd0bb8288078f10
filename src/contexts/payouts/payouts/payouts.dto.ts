import { CONTROL_CHARACTERS } from '../../../kernel/text.js';
import { Fault } from '../../../kernel/fault.js';
import { isAmount } from '../../../kernel/money.js';
import { asciiDigits, tidy } from '../../../kernel/typed-text.js';
import { ApiProperty, Field, Nested, ResourceOf, PageOf, type Rule } from '../../../platform/dto/field.js';
import { oneOf, text, TIME, USDC, uuid, UUID } from '../../../platform/dto/rules.js';
import { createdListQuery, Filter, MAX_PAGE } from '../../../platform/http/list-query.js';
import { measureDepth, JsonText } from '../../../platform/json-text/json-text.js';
import { MAX_PAYOUT_AMOUNT, readPayoutAmount } from './payout.js';
import { Balance, PayoutTotals } from './payouts.view.js';
import { STATUS, type Status } from './payout-events.js';

export const STATUSES = Object.keys(STATUS) as Status[];
const HASH_MAX_LENGTH = 255;
/** The maximum depth of `custom_metadata`. The object itself is level 1. */
const METADATA_MAX_DEPTH = 32;
const METADATA_MAX_BYTES = 16_384;

function readHash(hash: string): string | Fault {
  if (hash.trim() === '') return new Fault('must not be blank');
  if (hash.length > HASH_MAX_LENGTH) return new Fault(`must be at most ${HASH_MAX_LENGTH} characters`);
  return CONTROL_CHARACTERS.test(hash) ? new Fault('must not contain control characters') : hash;
}

/** A hash in a query. Invisible characters, which copying may add, are removed. */
export const hashFilter = text({ minLength: 1, maxLength: HASH_MAX_LENGTH }, (hash) => readHash(tidy(hash)));

/** The exact JSON text of an object. */
const metadata: Rule = {
  schema: { type: 'object' },
  read: (value) => {
    if (!(value instanceof JsonText)) return new Fault('must be an object');
    if (Buffer.byteLength(value.text) > METADATA_MAX_BYTES)
      return new Fault(`must be at most ${METADATA_MAX_BYTES} bytes`);
    return measureDepth(value.text) > METADATA_MAX_DEPTH
      ? new Fault(`must nest at most ${METADATA_MAX_DEPTH} levels deep`)
      : value.text;
  },
};

function readAmount(value: unknown): string | Fault {
  const isForeign = typeof value === 'string' && !isAmount(value);
  return readPayoutAmount(isForeign ? asciiDigits(value) : value);
}

class ReportPayoutFields {
  @Field(
    { schema: USDC, read: readAmount },
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

/** The body of POST /merchants/v1/payouts/report (contract.md 9). */
export class ReportPayoutBody {
  /** The id of a user. The response to a text that is not a UUID is 404. */
  @Field(text(UUID)) user_id!: string;
  @Nested(() => ReportPayoutFields) payout!: ReportPayoutFields;
}

export class Payout {
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

export class PayoutResponse extends ResourceOf('payout', Payout) {}

export class MerchantPayoutsQuery extends createdListQuery(MAX_PAGE, 'Payouts per page.') {
  @Filter(uuid, 'Only payouts to this user.') user_id?: string;
  @Filter(oneOf(STATUSES), 'Only payouts in this status.') status?: Status;
  @Filter(hashFilter, 'Only payouts of this transaction.') transaction_hash?: string;

  @Filter(text({ minLength: 1 }, tidy), 'Only payouts to the user of this external_id.')
  external_id?: string;

  @Filter(oneOf(['true']), 'With the totals of all payouts that match.')
  totals?: 'true';
}

export class PayoutsResponse extends PageOf('payouts', Payout, { maxItems: MAX_PAGE }) {
  @Nested(() => PayoutTotals, {
    optional: true,
    description: 'Of all payouts that match, with `totals=true`.',
  })
  totals?: PayoutTotals;
}

export class BalanceResponse extends ResourceOf('balance', Balance) {}
