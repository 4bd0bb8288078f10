import { ApiProperty, Many, Nested, ResourceOf, PageOf } from '../../../platform/dto/field.js';
import { oneOf, UUID, uuid } from '../../../platform/dto/rules.js';
import { createdListQuery, Filter, MAX_PAGE } from '../../../platform/http/list-query.js';
import { LastCheck, MAX_CHECKS, PayoutCheck } from '../verification/payout-checks.store.js';
import type { Status } from './payout-events.js';
import { hashFilter, Payout, STATUSES } from './payouts.dto.js';

const ADMIN_PAGE = 100;

export class AdminPayoutsQuery extends createdListQuery(ADMIN_PAGE, 'Payouts per page.') {
  @Filter(uuid, 'Only payouts of this merchant.') merchant_id?: string;
  @Filter(uuid, 'Only payouts to this user.') user_id?: string;
  @Filter(oneOf(STATUSES), 'Only payouts in this status.') status?: Status;
  @Filter(hashFilter, 'Only payouts of this transaction.') transaction_hash?: string;

  @Filter(
    oneOf(['true', 'false']),
    'true: only pending payouts whose check is late by a minute, whose transaction no node has had a usable response about for ten minutes, whose window has been over for ten minutes, or that are on another chain.',
  )
  overdue?: 'true' | 'false';
}

class AdminPayout extends Payout {
  @ApiProperty(UUID) merchant_id!: string;
  @Nested(() => LastCheck) check!: LastCheck;
}

export class AdminPayoutResponse extends ResourceOf('payout', AdminPayout) {}

export class AdminPayoutsResponse extends PageOf('payouts', AdminPayout, { maxItems: MAX_PAGE }) {}

export class PayoutChecksResponse {
  @Many(() => PayoutCheck, {
    maxItems: MAX_CHECKS,
    description: 'The newest 50 of the last 7 days, newest first.',
  })
  checks!: PayoutCheck[];
}
