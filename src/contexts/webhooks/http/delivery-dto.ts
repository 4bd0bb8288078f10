import { ApiProperty, Many, PageOf } from '../../../platform/dto/field.js';
import { COUNT, TIME, UUID } from '../../../platform/dto/rules.js';
import { MAX_PAGE } from '../../../platform/http/list-query.js';
import { EVENT_TYPES } from '../domain/webhook-endpoints.js';
import { DELIVERY_STATUSES, type DeliveryStatus } from '../domain/retry.js';
import { LISTED_ATTEMPTS } from '../views/deliveries.js';

/** A delivery as lists show it; an extension of the specification. */
export class WebhookDelivery {
  @ApiProperty({ ...UUID, description: 'The `webhook-id` header; the same for every attempt and resend.' })
  id!: string;

  @ApiProperty(UUID) webhook_endpoint_id!: string;
  @ApiProperty({ type: 'string', enum: EVENT_TYPES }) type!: string;

  @ApiProperty({
    type: 'string',
    enum: DELIVERY_STATUSES,
    description:
      '`exhausted`: it is not tried again. `dropped`: the endpoint was disabled or deleted; nothing was sent. Both can be sent after all by resend and recover.',
  })
  status!: DeliveryStatus;

  @ApiProperty(COUNT) attempt_count!: number;
  @ApiProperty(TIME) created_at!: string;

  @ApiProperty({
    ...TIME,
    nullable: true,
    description: 'Null unless pending. In the past while an attempt is in flight.',
  })
  next_attempt_at!: string | null;

  @ApiProperty({ ...TIME, nullable: true, description: 'Null while pending.' }) finished_at!: string | null;
}

class WebhookAttempt {
  @ApiProperty({ type: 'integer', minimum: 1, description: 'Counted on over resends.' }) attempt!: number;
  @ApiProperty(TIME) started_at!: string;

  @ApiProperty({ ...COUNT, description: 'Until the response was read, or the attempt given up.' })
  latency_ms!: number;

  @ApiProperty({ type: 'string', enum: ['succeeded', 'failed'] }) outcome!: 'succeeded' | 'failed';

  @ApiProperty({ type: 'integer', nullable: true, description: 'Null when there was no response.' })
  http_status!: number | null;

  @ApiProperty({
    type: 'string',
    nullable: true,
    description:
      'Where it broke: address, dns, connect, tls, send, response, timeout. Null when there was a response.',
  })
  error_class!: string | null;

  @ApiProperty({ type: 'string', nullable: true, description: 'What broke, perhaps after an `http_status`.' })
  error!: string | null;

  @ApiProperty({ type: 'string', nullable: true, description: 'The first KiB of the response, as UTF-8.' })
  response_excerpt!: string | null;
}

export class WebhookDeliveryDetail extends WebhookDelivery {
  @ApiProperty({ type: 'object', description: 'The envelope that is signed and sent.' }) payload!: object;

  @Many(() => WebhookAttempt, {
    maxItems: LISTED_ATTEMPTS,
    description: `Oldest first; after more than ${LISTED_ATTEMPTS} the newest of them.`,
  })
  attempts!: readonly WebhookAttempt[];
}

export class WebhookDeliveriesResponse extends PageOf('webhook_deliveries', WebhookDelivery, {
  maxItems: MAX_PAGE,
}) {}
