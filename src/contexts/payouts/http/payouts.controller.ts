import { Body, Controller, Get, Post, Query, Req } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyRequest } from 'fastify';
import type { EventMetadata } from '../../../platform/event-store/port.js';
import { ViewFreshness } from '../../../platform/projections/view-freshness.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { ResponseTravels, Cause, MerchantId, Ticket, UuidParam } from '../../../platform/http/decorators.js';
import type { IdempotencyTicket } from '../../../platform/idempotency/ticket.js';
import type { Query as QueryString } from '../../../platform/http/query.js';
import { Reply } from '../../../platform/http/reply.js';
import { ReportPayout } from '../application/report-payout.js';
import { PayoutsView } from '../views/payouts.js';
import { PAYOUT_VIEWS } from '../views/projection.js';
import { readPayoutFilter } from './payout-filter.js';
import { readReportBody } from './report-body.js';

/** contract.md 9. Bodies are text from the read model to the socket: no payout is parsed on its way out. */
@Controller('merchants/v1/payouts')
export class PayoutsController {
  constructor(
    private readonly commandBus: CommandBus,
    private readonly payouts: PayoutsView,
    private readonly freshness: ViewFreshness,
  ) {}

  @Post('report')
  @ResponseTravels()
  async report(
    @MerchantId() merchantId: string,
    @Ticket() ticket: IdempotencyTicket,
    @Cause() cause: EventMetadata,
    @Body() body: unknown,
    @Req() request: FastifyRequest,
  ): Promise<Reply> {
    const report = readReportBody(body, request.edge.rawBody.toString('utf8'));
    return new Reply(
      201,
      await this.commandBus.execute(new ReportPayout({ merchantId, ...report }, ticket, cause)),
    );
  }

  @Get()
  async list(@MerchantId() merchantId: string, @Query() query: QueryString): Promise<Reply> {
    await this.freshness.require(PAYOUT_VIEWS);
    return new Reply(200, await this.payouts.page(merchantId, readPayoutFilter(query)));
  }

  @Get(':id')
  async get(@MerchantId() merchantId: string, @UuidParam('id', 'Payout') id: string): Promise<Reply> {
    await this.freshness.require(PAYOUT_VIEWS);
    const body = await this.payouts.find(merchantId, id);
    if (body === null) throw DomainError.notFound('Payout');
    return new Reply(200, `{"payout":${body}}`);
  }
}
