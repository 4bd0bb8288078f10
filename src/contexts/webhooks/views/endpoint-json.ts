import { ApiProperty } from '../../../platform/dto/field.js';
import { COUNT, TIME, UUID } from '../../../platform/dto/rules.js';
import {
  DESCRIPTION_LIMIT,
  ENDPOINT_STATUSES,
  type DisableCause,
  type Endpoint,
} from '../domain/webhook-endpoints.js';
import { FAILURE_COUNT_LIMIT } from '../store/failing-endpoints.js';

/** A WebhookEndpoint as the API shows it (contract.md 12), and what we show besides. */
export class WebhookEndpoint {
  @ApiProperty(UUID)
  id!: string;

  @ApiProperty({ type: 'string', description: 'Where deliveries are POSTed.' })
  url!: string;

  @ApiProperty({ type: 'string', maxLength: DESCRIPTION_LIMIT, nullable: true })
  description!: string | null;

  @ApiProperty({ type: 'string', enum: ENDPOINT_STATUSES })
  status!: string;

  @ApiProperty(TIME)
  created_at!: string;

  @ApiProperty(TIME)
  updated_at!: string;

  @ApiProperty({
    type: 'array',
    items: { type: 'string' },
    nullable: true,
    description: 'Types the endpoint hears of; null means all, future ones too.',
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
    description: 'By a PATCH, by an answer with 410, or by sustained failures; null while enabled.',
  })
  disabled_cause!: DisableCause | null;

  @ApiProperty({ ...TIME, nullable: true })
  disabled_at!: string | null;
}

/** In the responses to registration and rotation alone. */
export class WebhookEndpointWithSecret extends WebhookEndpoint {
  @ApiProperty({ type: 'string', pattern: '^whsec_[A-Za-z0-9+/]{43}=$' })
  signing_secret!: string;
}

export function endpointJson(endpoint: Endpoint, failureCount: number): WebhookEndpoint {
  return {
    id: endpoint.id,
    url: endpoint.url,
    description: endpoint.description,
    status: endpoint.status,
    created_at: endpoint.createdAt,
    updated_at: endpoint.updatedAt,
    event_types: endpoint.eventTypes,
    failure_count: failureCount,
    disabled_cause: endpoint.disabledCause,
    disabled_at: endpoint.disabledAt,
  };
}
