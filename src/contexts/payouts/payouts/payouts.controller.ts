import { Controller, Get, Post, type StreamableFile } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { EventMetadata } from '../../../platform/event-store/port.js';
import { SubscriptionProgress } from '../../../platform/projections/subscription-progress.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { NIL_UUID } from '../../../kernel/ids.js';
import {
  BodyWithText,
  Cause,
  ListQuery,
  MerchantId,
  StoresResponseWithEvents,
  Ticket,
  UuidParam,
} from '../../../platform/http/decorators.js';
import { PortalRoute } from '../../../platform/http/admin/portal.guard.js';
import { UpToDate } from '../../../platform/http/reads.js';
import { fromRequest } from '../../../platform/http/request-state.js';
import type { IdempotencyTicket } from '../../../platform/idempotency/ticket.js';
import { ApiRoute } from '../../../platform/openapi/route.js';
import { USERS_VIEW, UsersView } from '../../users/users.contract.js';
import { EvidenceResponse, EvidenceView } from '../verification/evidence.view.js';
import { PayeeCache, ReportPayout } from './payouts.commands.js';
import { NOTHING_PAID, PayoutsView, type PayoutFilter } from './payouts.view.js';
import { PAYOUT_VIEWS } from './payouts-projection.view.js';
import { EXPORT_TYPES, PayoutExport } from './payout-export.service.js';
import {
  ReportPayoutBody,
  PayoutResponse,
  MerchantPayoutsQuery,
  PayoutsResponse,
  BalanceResponse,
} from './payouts.dto.js';

const READ = 'payouts:read';

/** The media type of the export that `Accept` names first; null if the response is a page of JSON. */
const ExportType = fromRequest(({ headers }): string | null => {
  const [first = ''] = (headers.accept ?? '').toLowerCase().split(/[,;]/);
  return EXPORT_TYPES.find((type) => type === first.trim()) ?? null;
});

/** The payout routes of a merchant (contract.md 9). The stored JSON is sent without parsing. */
@Controller('merchants/v1/payouts')
export class PayoutsController {
  constructor(
    private readonly commandBus: CommandBus,
    private readonly payouts: PayoutsView,
    private readonly evidence: EvidenceView,
    private readonly exports: PayoutExport,
    private readonly users: UsersView,
    private readonly progress: SubscriptionProgress,
  ) {}

  @Post('report')
  @StoresResponseWithEvents({ inClear: true })
  @ApiRoute({
    id: 'reportPayout',
    body: ReportPayoutBody,
    tag: 'Payouts',
    summary: 'Report a payout',
    description:
      'Records a payout for a transfer that was broadcast already. The service verifies the transfer on the chain and sends payout.received or payout.failed. An Idempotency-Key is strongly recommended.',
    responses: {
      201: [PayoutResponse, 'The payout is recorded and pending.'],
      400: 'The JSON or the Idempotency-Key is malformed.',
      404: 'user_id matches no user of the merchant.',
      409: 'The first request with this Idempotency-Key is in progress, or the user is deactivated.',
      422: 'A field is missing or wrong.',
    },
  })
  async report(
    @MerchantId() merchantId: string,
    @Ticket() ticket: IdempotencyTicket,
    @Cause() cause: EventMetadata,
    @BodyWithText('payout', 'custom_metadata') { user_id, payout }: ReportPayoutBody,
  ): Promise<string> {
    const { amount, transaction_hash, custom_metadata } = payout;
    const facts = { amount, transaction_hash, custom_metadata: custom_metadata ?? '{}' };
    const report = { merchant_id: merchantId, user_id, ...facts };
    return this.commandBus.execute(new ReportPayout(report, ticket, cause));
  }

  @Get()
  @PortalRoute('payouts', READ)
  @ApiRoute({
    id: 'listPayouts',
    tag: 'Payouts',
    summary: 'List payouts, newest first',
    description:
      'With `Accept: text/csv` or `application/x-ndjson` (an extension): all payouts that match, one on a line, in place of a page. With `totals=true` (an extension): how many payouts match on all pages, and their amounts. 429 while the merchant receives another export or total.',
    responses: {
      200: [
        PayoutsResponse,
        'One page: page_size payouts, or fewer once they have more than 4 MiB. The list is exhausted when next_cursor is null.',
      ],
      400: 'A filter, page_size or page_cursor is invalid; detail names it.',
    },
  })
  @UpToDate(PAYOUT_VIEWS)
  async list(
    @MerchantId() merchantId: string,
    @ListQuery() query: MerchantPayoutsQuery,
    @ExportType() type: string | null,
  ): Promise<string | StreamableFile> {
    const filter = await this.toFilter(merchantId, query);
    if (type !== null) return this.exports.start(type, merchantId, filter);
    const totals = query.totals === undefined ? undefined : await this.exports.totals(merchantId, filter);
    return this.payouts.page(merchantId, filter, totals);
  }

  /** Replaces `external_id` by its user's id. Nothing matches if that user is unknown or not `user_id`. */
  private async toFilter(merchantId: string, query: MerchantPayoutsQuery): Promise<PayoutFilter> {
    if (query.external_id === undefined) return query;
    await this.progress.requireCurrent(USERS_VIEW);
    const userId = await this.users.idOfExternalId(merchantId, query.external_id);
    const isOther = query.user_id !== undefined && query.user_id !== userId;
    return { ...query, user_id: userId === null || isOther ? NIL_UUID : userId };
  }

  @Get(':id')
  @PortalRoute('payouts/:id', READ)
  @ApiRoute({
    id: 'getPayout',
    tag: 'Payouts',
    summary: 'Get a payout',
    responses: { 200: [PayoutResponse, 'The payout.'], 404: 'The merchant has no such payout.' },
  })
  @UpToDate(PAYOUT_VIEWS)
  async get(@MerchantId() merchantId: string, @UuidParam('id', 'Payout') id: string): Promise<string> {
    const payout = await this.payouts.find(merchantId, id);
    if (payout === null) throw DomainError.notFound('Payout');
    return `{"payout":${payout.body}}`;
  }

  @Get(':id/evidence')
  @PortalRoute('payouts/:id/evidence', READ)
  @ApiRoute({
    id: 'getPayoutEvidence',
    tag: 'Payouts',
    summary: 'Get the evidence of the transfer of a payout',
    description: 'Enough to find it at any node of the chain.',
    responses: {
      200: [EvidenceResponse, 'The state of the transfer on the chain, and its receipt.'],
      404: 'The merchant has no such payout.',
      409: 'The payout is pending or expired.',
    },
  })
  async getEvidence(
    @MerchantId() merchantId: string,
    @UuidParam('id', 'Payout') id: string,
  ): Promise<EvidenceResponse> {
    return { evidence: await this.evidence.of(merchantId, id) };
  }
}

/** The route of a user's balance (contract.md 11). */
@Controller('merchants/v1/users')
export class BalanceController {
  constructor(
    private readonly payouts: PayoutsView,
    private readonly payees: PayeeCache,
  ) {}

  @Get(':id/balance')
  @ApiRoute({
    id: 'getBalance',
    tag: 'Users',
    summary: 'Get the balance of a user',
    responses: {
      200: [BalanceResponse, "Sums over the user's payouts."],
      404: 'The merchant has no such user.',
    },
  })
  @UpToDate(PAYOUT_VIEWS)
  async get(
    @MerchantId() merchantId: string,
    @UuidParam('id', 'User') userId: string,
  ): Promise<BalanceResponse> {
    const balance = await this.payouts.findBalance(merchantId, userId);
    if (balance !== null) return { balance };
    // A new user may be missing, because its creation does not wait for this read model.
    const { state } = await this.payees.get(userId);
    if (state.accountState === 'unknown' || state.merchantId !== merchantId)
      throw DomainError.notFound('User');
    return { balance: NOTHING_PAID };
  }
}
