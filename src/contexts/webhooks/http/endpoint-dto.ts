import { ApiProperty, Nested } from '../../../platform/dto/field.js';
import { COUNT, TIME, UUID } from '../../../platform/dto/rules.js';
import { DESCRIPTION_LIMIT, ENDPOINT_STATUSES, type DisableCause } from '../domain/webhook-endpoints.js';
import { FAILURE_COUNT_LIMIT } from '../domain/webhook-endpoints.js';
import type { DeliveryStatus } from '../domain/retry.js';
import { COUNTED } from '../views/endpoint-stats.js';

/** A WebhookEndpoint as the API shows it (contract.md 12), and what we show besides. */
export class WebhookEndpoint {
  @ApiProperty(UUID) id!: string;
  @ApiProperty({ type: 'string', description: 'Where deliveries are POSTed.' }) url!: string;
  @ApiProperty({ type: 'string', maxLength: DESCRIPTION_LIMIT, nullable: true }) description!: string | null;
  @ApiProperty({ type: 'string', enum: ENDPOINT_STATUSES }) status!: string;
  @ApiProperty(TIME) created_at!: string;
  @ApiProperty(TIME) updated_at!: string;

  @ApiProperty({
    type: 'array',
    items: { type: 'string' },
    nullable: true,
    description: 'Types of events that the endpoint receives; null means all but those of orders.',
  })
  event_types!: readonly string[] | null;

  @ApiProperty({
    ...COUNT,
    maximum: FAILURE_COUNT_LIMIT,
    description: 'Failed attempts that count towards automatic disabling now; enabling clears them.',
  })
  failure_count!: number;

  @ApiProperty({
    type: 'string',
    enum: ['merchant', 'gone', 'failing'] satisfies DisableCause[],
    nullable: true,
    description: 'By a PATCH, by a response with 410, or by sustained failures; null while enabled.',
  })
  disabled_cause!: DisableCause | null;

  @ApiProperty({ ...TIME, nullable: true }) disabled_at!: string | null;
}

/** The endpoint with its secret, in responses to registration and rotation alone. */
export class WebhookEndpointWithSecret extends WebhookEndpoint {
  @ApiProperty({ type: 'string', pattern: '^whsec_[A-Za-z0-9+/]{43}=$' }) signing_secret!: string;
}

class DeliveriesByStatus implements Record<DeliveryStatus, number> {
  @ApiProperty(COUNT) pending!: number;
  @ApiProperty(COUNT) succeeded!: number;
  @ApiProperty(COUNT) exhausted!: number;
  @ApiProperty(COUNT) dropped!: number;
}

class AttemptsByOutcome {
  @ApiProperty(COUNT) succeeded!: number;
  @ApiProperty(COUNT) failed!: number;
}

class Latency {
  @ApiProperty(COUNT) p50!: number;
  @ApiProperty(COUNT) p95!: number;
  @ApiProperty(COUNT) p99!: number;
}

export class WebhookEndpointStats {
  @ApiProperty(UUID) webhook_endpoint_id!: string;
  @ApiProperty({ ...TIME, description: 'From when deliveries are counted.' }) since!: string;

  @ApiProperty({
    type: 'boolean',
    description: `More than ${COUNTED} were created since the time requested; \`since\` is a later one.`,
  })
  truncated!: boolean;

  @Nested(() => DeliveriesByStatus) deliveries!: DeliveriesByStatus;
  @Nested(() => AttemptsByOutcome) attempts!: AttemptsByOutcome;

  @ApiProperty({
    type: 'object',
    additionalProperties: COUNT,
    description:
      'Failed attempts by error class, and by http_3xx, http_4xx, http_5xx where there was a response.',
  })
  failures!: Readonly<Record<string, number>>;

  @Nested(() => Latency, {
    nullable: true,
    description: 'Of attempts that got a response; null when none did.',
  })
  latency_ms!: Latency | null;

  @ApiProperty({ ...COUNT, description: `Whenever they were created; counted up to ${COUNTED}.` })
  pending_now!: number;

  @ApiProperty({
    ...TIME,
    nullable: true,
    description: 'Since when the longest waiting delivery is due that is not being sent; null when none is.',
  })
  oldest_due_at!: string | null;
}
