import { Body, Controller, Post, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { DomainError } from '../../../kernel/domain-error.js';
import { BodyAsBytes, MerchantId, Ticket } from '../../../platform/http/decorators.js';
import type { IdempotencyTicket } from '../../../platform/idempotency/ticket.js';
import { ApiRoute } from '../../../platform/openapi/route.js';
import { receivedBatches, receivedEvents } from '../metrics.js';
import { ProcessingWorker } from '../application/processing-worker.js';
import { RefusedBatch } from '../domain/event-batch.js';
import { readBatch, EventBatch } from './event-batch-body.js';

const NO_BODY = Buffer.alloc(0);

/** POST /merchants/v1/events (contract.md 17). */
@Controller('merchants/v1/events')
export class EventsController {
  constructor(private readonly processing: ProcessingWorker) {}

  @Post()
  @BodyAsBytes()
  @ApiRoute({
    id: 'sendEvents',
    tag: 'Events',
    summary: 'Send a batch of events',
    description:
      'Queues 1 to 1000 events. The batch is accepted whole or refused whole: one item at fault refuses all. An event_id that was seen before is a no-op, so that a batch can be sent again until it is accepted. 202 means that the batch is on disk; it is processed soon after.',
    body: EventBatch,
    responses: {
      202: 'The batch is queued. There is no body and no result per event.',
      400: 'The JSON or the Idempotency-Key is malformed, or an event is: detail names the item and the field, such as `events[3].event_id must be a UUID v4`.',
      409: 'The first request with this Idempotency-Key is in progress.',
      413: 'More than 1000 events, or a body of 1048576 bytes or more.',
      422: 'The Idempotency-Key was used for another request.',
    },
  })
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
    const batchId = ticket.id('batch');
    await this.processing.accept({ merchantId, batchId, itemCount: edge.items, body: bytes });
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
