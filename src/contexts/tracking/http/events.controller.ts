import { Body, Controller, HttpCode, Post, Req } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyRequest } from 'fastify';
import { DomainError } from '../../../kernel/domain-error.js';
import { BodyAsBytes, MerchantId, Ticket } from '../../../platform/http/decorators.js';
import type { IdempotencyTicket } from '../../../platform/idempotency/ticket.js';
import { receivedBatches, receivedEvents } from '../metrics.js';
import { AcceptBatch } from '../application/accept-batch.js';
import { RefusedBatch } from '../domain/event-batch.js';
import { readBatch } from './batch-body.js';

const NO_BODY = Buffer.alloc(0);

/** POST /merchants/v1/events (contract.md 17). */
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
    @Req() { edge }: FastifyRequest,
  ): Promise<void> {
    const bytes = body ?? NO_BODY;
    try {
      edge.items = readBatch(bytes);
    } catch (error) {
      if (error instanceof DomainError) edge.items = countRefusal(error);
      throw error;
    }
    const repeatable = edge.ticket !== null && edge.ticket.key !== null;
    await this.commandBus.execute(
      new AcceptBatch({
        merchantId,
        batchId: ticket.id('batch'),
        repeatable,
        itemCount: edge.items,
        body: bytes,
      }),
    );
    receivedBatches.inc({ outcome: 'accepted' });
    receivedEvents.inc({ outcome: 'accepted' }, edge.items);
  }
}

/** The items that are known of the batch. */
function countRefusal(error: DomainError): number {
  const items = error instanceof RefusedBatch ? error.items : 0;
  receivedBatches.inc({ outcome: error.code === 'too_large' ? 'too_large' : 'malformed' });
  receivedEvents.inc({ outcome: 'refused' }, items);
  return items;
}
