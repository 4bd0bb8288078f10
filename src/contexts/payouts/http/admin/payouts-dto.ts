import { ApiProperty, Many, Nested, ResourceOf, PageOf } from '../../../../platform/dto/field.js';
import { COUNT, oneOf, TIME, UUID, uuid } from '../../../../platform/dto/rules.js';
import { createdListQuery, Filter, MAX_PAGE } from '../../../../platform/http/list-query.js';
import { CHECK_FINDINGS } from '../../domain/stuck-reasons.js';
import type { CheckFinding } from '../../domain/verification.js';
import { hashFilter, Payout, STATUSES } from '../payout-dto.js';

const ADMIN_PAGE = 100;
const FINDING = { type: 'string', enum: CHECK_FINDINGS };

/** Query of GET /admin/v1/payouts: the filters of the merchant's list, and those of operators. */
export class AdminPayoutsQuery extends createdListQuery(ADMIN_PAGE, 'Payouts per page.') {
  @Filter(uuid, 'Only payouts of this merchant.') merchant_id?: string;
  @Filter(uuid, 'Only payouts to this user.') user_id?: string;
  @Filter(oneOf(STATUSES), 'Only payouts in this status.') status?: (typeof STATUSES)[number];
  @Filter(hashFilter, 'Only payouts of this transaction.') transaction_hash?: string;

  @Filter(
    oneOf(['true', 'false']),
    'true: only pending payouts whose check is late by a minute, whose transaction no node has had a usable response about for ten minutes, whose window has been over for ten minutes, or that are on another chain.',
  )
  overdue?: 'true' | 'false';
}

class LastCheck {
  @ApiProperty({ ...TIME, nullable: true }) last_at!: string | null;
  @ApiProperty({ anyOf: [FINDING, { type: 'null' }] }) last_finding!: CheckFinding | null;

  @ApiProperty({ ...TIME, nullable: true, description: 'null once the payout has its outcome.' })
  next_at!: string | null;

  @ApiProperty({ ...COUNT, nullable: true, description: 'Checks so far; null a week after the outcome.' })
  attempts!: number | null;
}

class AdminPayout extends Payout {
  @ApiProperty(UUID) merchant_id!: string;
  @Nested(() => LastCheck) check!: LastCheck;
}

export class AdminPayoutResponse extends ResourceOf('payout', AdminPayout) {}

export class AdminPayoutsResponse extends PageOf('payouts', AdminPayout, { maxItems: MAX_PAGE }) {}

class PayoutCheck {
  @ApiProperty(TIME) at!: string;
  @ApiProperty(FINDING) finding!: CheckFinding;

  @ApiProperty({ type: 'string', nullable: true, description: 'Host of the node that was read.' })
  node!: string | null;

  @ApiProperty({ ...COUNT, nullable: true, description: 'The newest block of the node.' })
  head!: number | null;

  @ApiProperty({ ...COUNT, nullable: true, description: 'null while the transaction is in no block.' })
  confirmations!: number | null;
}

export class PayoutChecksResponse {
  @Many(() => PayoutCheck, { maxItems: 50, description: 'The newest 50 of the last 7 days, newest first.' })
  checks!: PayoutCheck[];
}
