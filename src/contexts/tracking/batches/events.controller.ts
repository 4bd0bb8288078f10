import { Body, Controller, Post, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { DomainError } from '../../../kernel/domain-error.js';
import { BodyAsBytes, MerchantId, Ticket } from '../../../platform/http/decorators.js';
import type { IdempotencyTicket } from '../../../platform/idempotency/ticket.js';
import { ApiRoute } from '../../../platform/openapi/route.js';
import { receivedBatches } from '../tracking.metrics.js';
import { BatchesProcessor } from './batches.processor.js';
import { countItems, MAX_ITEMS, PAYLOAD_MAX_DEPTH, TEXT_MAX_LENGTH } from './event-batch.js';
import { parseJsonBody } from '../../../platform/http/request-body.js';
import { Field, Many } from '../../../platform/dto/field.js';
import { freeForm, text, uuid } from '../../../platform/dto/rules.js';

export function readBatch(bytes: Buffer): number {
  return countItems(bytes.length === 0 ? undefined : parseJsonBody(bytes, null));
}

const short = text({ minLength: 1, maxLength: TEXT_MAX_LENGTH });

/** An event in the OpenAPI document. Requests are validated by `countItems` instead. */
class Event {
  @Field(short, { description: 'Trimmed; letter case does not count.' })
  event_name!: string;

  @Field(freeForm, {
    description: `Free-form; kept byte for byte. At most ${PAYLOAD_MAX_DEPTH} levels deep.`,
  })
  payload!: object;

  @Field(text(), {
    description:
      'When it happened: date and time of ISO 8601, seconds with up to nine decimals. UTC unless an offset says otherwise.',
    examples: ['2026-01-31T12:00:00Z', '2026-01-31T13:00:00.123456+01:00'],
  })
  event_datetime!: string;

  @Field(uuid, {
    description: 'UUID v4 in any letter case; every event counts once per event_id.',
  })
  event_id!: string;

  @Field(short, {
    description: 'external_id of the user, who need not exist yet. Trimmed.',
  })
  user_external_id!: string;

  @Field(short, {
    optional: true,
    nullable: true,
    description: 'Device id at the analytics provider.',
  })
  device_id?: string | null;
}

class EventBatch {
  @Many(() => Event, {
    minItems: 1,
    maxItems: MAX_ITEMS,
    description: 'Other fields of an event are ignored.',
  })
  events!: Event[];
}

const NO_BODY = Buffer.alloc(0);

@Controller('merchants/v1/events')
export class EventsController {
  constructor(private readonly processing: BatchesProcessor) {}

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
    @Body() body: Buffer = NO_BODY,
    @Req() { edge }: FastifyRequest,
  ): Promise<void> {
    try {
      edge.items = readBatch(body);
    } catch (error) {
      if (error instanceof DomainError)
        receivedBatches.inc({ outcome: error.code === 'too_large' ? 'too_large' : 'malformed' });
      throw error;
    }
    const batch = { batch_id: ticket.id('batch'), merchant_id: merchantId, item_count: edge.items, body };
    await this.processing.accept(batch);
    receivedBatches.inc({ outcome: 'accepted' });
  }
}
