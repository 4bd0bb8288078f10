import { Get } from '@nestjs/common';
import { toStream } from '../../../kernel/aggregate.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { AdminController } from '../../../platform/http/admin/admin.guard.js';
import { ListQuery, UuidParam } from '../../../platform/http/decorators.js';
import { Disclosure, Reach, Reads } from '../../../platform/http/reads.js';
import { Reply } from '../../../platform/http/reply.js';
import { ApiRoute } from '../../../platform/openapi/route.js';
import { payout } from './payout.js';
import { PayoutChecks, type LastCheck } from '../verification/payout-checks.store.js';
import { EvidenceResponse, EvidenceView } from '../verification/evidence.view.js';
import { OverduePayouts } from '../verification/overdue-payouts.view.js';
import { PayoutsView, type PayoutJson } from './payouts.view.js';
import { PAYOUT_VIEWS } from './payouts-projection.view.js';
import {
  AdminPayoutResponse,
  AdminPayoutsQuery,
  AdminPayoutsResponse,
  PayoutChecksResponse,
} from './admin-payouts.dto.js';

const TAG = 'Admin: payouts';
const SCOPES = ['payouts:read'];
const UP_TO_DATE = { view: PAYOUT_VIEWS, mayBeLate: true } as const;
const NOT_FOUND = 'There is no such payout within reach of the key.';

/** The payouts of all merchants, with their checks (admin-api.md 3). */
@AdminController('payouts')
export class AdminPayoutsController {
  constructor(
    private readonly payouts: PayoutsView,
    private readonly overdue: OverduePayouts,
    private readonly checks: PayoutChecks,
    private readonly evidence: EvidenceView,
  ) {}

  @Get()
  @ApiRoute({
    id: 'adminListPayouts',
    tag: TAG,
    summary: 'List payouts, newest first',
    scopes: SCOPES,
    responses: {
      200: [AdminPayoutsResponse, 'One page. The list is exhausted when next_cursor is null.'],
      400: 'A filter, page_size or page_cursor is invalid, or unknown; detail names it.',
      404: 'The merchant of merchant_id is not within reach of the key.',
    },
  })
  @Reads({ ...UP_TO_DATE, lookup: 'payouts' })
  async list(
    @Reach() merchants: readonly string[] | null,
    @ListQuery() query: AdminPayoutsQuery,
  ): Promise<Disclosure<Reply>> {
    const { rows, next_cursor } = await (query.overdue === 'true'
      ? this.overdue.rows(merchants, query)
      : this.payouts.rows(merchants, query));
    const checks = await this.checks.latest(rows.map(({ id }) => id));
    const texts = rows.map((each) => adminJson(each, checks));
    const text = `{"payouts":[${texts.join(',')}],"next_cursor":${JSON.stringify(next_cursor)}}`;
    return new Disclosure(
      rows.map(({ merchant_id }) => merchant_id),
      () => new Reply(200, text),
    );
  }

  @Get(':id')
  @ApiRoute({
    id: 'adminGetPayout',
    tag: TAG,
    summary: 'Get a payout',
    scopes: SCOPES,
    responses: { 200: [AdminPayoutResponse, 'The payout.'], 404: NOT_FOUND },
  })
  @Reads({ ...UP_TO_DATE, lookup: 'payout', etag: (id) => [toStream(payout, id)] })
  async get(@UuidParam('id', 'Payout') id: string): Promise<Disclosure<Reply>> {
    const found = await this.find(id);
    const checks = await this.checks.latest([id]);
    return new Disclosure(
      [found.merchant_id],
      () => new Reply(200, `{"payout":${adminJson(found, checks)}}`),
    );
  }

  @Get(':id/checks')
  @ApiRoute({
    id: 'adminListPayoutChecks',
    tag: TAG,
    summary: 'List what the checks of a payout on the chain found',
    scopes: SCOPES,
    responses: { 200: [PayoutChecksResponse, 'The newest 50 checks.'], 404: NOT_FOUND },
  })
  @Reads({ ...UP_TO_DATE, lookup: 'payout' })
  async listChecks(@UuidParam('id', 'Payout') id: string): Promise<Disclosure<PayoutChecksResponse>> {
    const { merchant_id: merchantId } = await this.find(id);
    return new Disclosure([merchantId], async () => ({ checks: await this.checks.list(id) }));
  }

  @Get(':id/evidence')
  @ApiRoute({
    id: 'adminGetPayoutEvidence',
    tag: TAG,
    summary: 'Get what was seen of the transfer of a payout',
    scopes: SCOPES,
    responses: {
      200: [EvidenceResponse, 'Where the transfer is on the chain, and its receipt.'],
      404: NOT_FOUND,
      409: 'The payout is pending or expired.',
    },
  })
  @Reads({ ...UP_TO_DATE, lookup: 'payout' })
  async getEvidence(@UuidParam('id', 'Payout') id: string): Promise<Disclosure<EvidenceResponse>> {
    const { merchant_id: merchantId } = await this.find(id);
    return new Disclosure([merchantId], async () => ({ evidence: await this.evidence.of(merchantId, id) }));
  }

  private async find(id: string): Promise<PayoutJson> {
    const found = await this.payouts.find(null, id);
    if (found === null) throw DomainError.notFound('Payout');
    return found;
  }
}

/** Adds `merchant_id` and `check` to the JSON text of the merchant API without parsing it. */
function adminJson({ id, merchant_id, body }: PayoutJson, checks: ReadonlyMap<string, LastCheck>): string {
  return `${body.slice(0, -1)},"merchant_id":"${merchant_id}","check":${JSON.stringify(checks.get(id))}}`;
}
