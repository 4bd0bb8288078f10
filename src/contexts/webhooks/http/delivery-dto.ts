import { ApiProperty, Many, PageOf } from '../../../platform/dto/field.js';
import { COUNT, TIME } from '../../../platform/dto/rules.js';
import { MAX_PAGE } from '../../../platform/http/list-query.js';
import { LISTED_ATTEMPTS } from '../views/deliveries.js';
import { WebhookDelivery } from '../views/delivery-page.js';

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
