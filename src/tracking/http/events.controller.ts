import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { BodyAsBytes, MerchantId, Ticket } from '../../platform/http/decorators.js';
import type { IdempotencyTicket } from '../../platform/http/edge.js';
import { AcceptBatch } from '../application/accept-batch.js';
import { readBatch } from './batch-body.js';

/** POST /merchants/v1/events (merchant-api section 4.3). */
@Controller('merchants/v1/events')
export class EventsController {
  constructor(private readonly commandBus: CommandBus) {}

  @Post()
  @HttpCode(202)
  @BodyAsBytes()
  async accept(
    @MerchantId() merchantId: string,
    @Ticket() ticket: IdempotencyTicket,
    @Body() body: Buffer | undefined,
  ): Promise<void> {
    const bytes = body ?? Buffer.alloc(0);
    await this.commandBus.execute(new AcceptBatch(merchantId, ticket, bytes, readBatch(bytes)));
  }
}
