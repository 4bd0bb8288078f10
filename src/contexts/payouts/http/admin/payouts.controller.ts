import { Get, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { streamOf } from '../../../../kernel/aggregate.js';
import { DomainError } from '../../../../kernel/domain-error.js';
import {
  AdminController,
  Caller,
  reachOf,
  requireReach,
  sendEtag,
  type AdminCaller,
} from '../../../../platform/http/admin/admin-controller.js';
import { ListQuery, UuidParam } from '../../../../platform/http/decorators.js';
import { Reply } from '../../../../platform/http/reply.js';
import { ApiRoute } from '../../../../platform/openapi/route.js';
import { OperatorLookups } from '../../../../platform/operations/operator-lookups.js';
import { Operations } from '../../../../platform/operations/operations.js';
import { SubscriptionProgress } from '../../../../platform/projections/subscription-progress.js';
import { payout } from '../../domain/payout.js';
import { PayoutChecks, type CheckJson } from '../../store/payout-checks.js';
import { PAYOUT_VIEWS } from '../../views/audited-payouts.js';
import { PayoutsList, type ListedPayout } from '../../views/payouts-list.js';
import { EvidenceView } from '../../views/payouts.js';
import {
  AdminPayoutResponse,
  AdminPayoutsQuery,
  AdminPayoutsResponse,
  PayoutChecksResponse,
} from './payouts-dto.js';
import { EvidenceResponse } from '../payout-dto.js';

const TAG = 'Admin: payouts';
const SCOPES = ['payouts:read'];
const NOT_FOUND = 'There is no such payout within reach of the key.';

/** admin-api.md 3: payouts of all merchants, with what the checks of the chain found. */
@AdminController('payouts')
export class AdminPayoutsController {
  constructor(
    private readonly payouts: PayoutsList,
    private readonly checks: PayoutChecks,
    private readonly evidence: EvidenceView,
    private readonly operations: Operations,
    private readonly lookups: OperatorLookups,
    private readonly progress: SubscriptionProgress,
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
  async list(@Caller() caller: AdminCaller, @ListQuery() query: AdminPayoutsQuery): Promise<Reply> {
    const { merchant_id: merchantId } = query;
    const merchants = reachOf(caller, merchantId);
    await this.progress.waitUntilCurrent(PAYOUT_VIEWS);
    const { payouts, next_cursor } = await this.payouts.page({
      merchants,
      filter: {
        createdFrom: query.created_from,
        createdTo: query.created_to,
        userId: query.user_id,
        status: query.status,
        transactionHash: query.transaction_hash,
        isOverdue: query.overdue === 'true',
      },
      page: { pageSize: query.page_size, after: query.page_cursor },
    });
    const read = merchantId === undefined ? payouts.map((each) => each.merchantId) : [merchantId];
    await this.lookups.record(caller, read, 'payouts');
    const checks = await this.checks.latest(payouts.map(({ id }) => id));
    const texts = payouts.map((each) => adminJson(each, checks));
    return new Reply(200, `{"payouts":[${texts.join(',')}],"next_cursor":${JSON.stringify(next_cursor)}}`);
  }

  @Get(':id')
  @ApiRoute({
    id: 'adminGetPayout',
    tag: TAG,
    summary: 'Get a payout',
    scopes: SCOPES,
    responses: { 200: [AdminPayoutResponse, 'The payout.'], 404: NOT_FOUND },
  })
  async get(
    @Caller() caller: AdminCaller,
    @UuidParam('id', 'Payout') id: string,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Reply> {
    const revision = await this.operations.revisionOf([streamOf(payout, id)]);
    const found = await this.read(caller, id);
    const checks = await this.checks.latest([id]);
    sendEtag(reply, revision);
    return new Reply(200, `{"payout":${adminJson(found, checks)}}`);
  }

  @Get(':id/checks')
  @ApiRoute({
    id: 'adminListPayoutChecks',
    tag: TAG,
    summary: 'List what the checks of a payout on the chain found',
    scopes: SCOPES,
    responses: { 200: [PayoutChecksResponse, 'The newest 50 checks.'], 404: NOT_FOUND },
  })
  async checksOf(
    @Caller() caller: AdminCaller,
    @UuidParam('id', 'Payout') id: string,
  ): Promise<PayoutChecksResponse> {
    await this.read(caller, id);
    return { checks: await this.checks.list(id) };
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
  async evidenceOf(
    @Caller() caller: AdminCaller,
    @UuidParam('id', 'Payout') id: string,
  ): Promise<EvidenceResponse> {
    const { merchantId } = await this.read(caller, id);
    return { evidence: await this.evidence.of(merchantId, id) };
  }

  /** Throws `not_found`. */
  private async read(caller: AdminCaller, id: string): Promise<ListedPayout> {
    await this.progress.waitUntilCurrent(PAYOUT_VIEWS);
    const found = await this.payouts.find(id);
    if (found === null) throw DomainError.notFound('Payout');
    requireReach(caller, found.merchantId, 'Payout');
    await this.lookups.record(caller, [found.merchantId], `payout ${id}`);
    return found;
  }
}

/** The payout of the merchant API with two more members; its text is not parsed. */
function adminJson({ id, merchantId, json }: ListedPayout, checks: ReadonlyMap<string, CheckJson>): string {
  return `${json.slice(0, -1)},"merchant_id":"${merchantId}","check":${JSON.stringify(checks.get(id))}}`;
}
