import { Inject, Injectable } from '@nestjs/common';
import { COMMAND_LOOP, type CommandLoop } from '../../../platform/event-store/command-loop.js';
import {
  webhookEndpoints,
  DESCRIPTION_LIMIT,
  ENDPOINT_STATUSES,
  type Endpoint,
  type DisableCause,
} from '../domain/webhook-endpoints.js';
import { FailingEndpoints, FAILURE_COUNT_LIMIT } from '../store/failing-endpoints.js';
import { ApiProperty } from '../../../platform/dto/field.js';
import { COUNT, TIME, UUID } from '../../../platform/dto/rules.js';

/** Which endpoints does a merchant have? Read from the merchant's one stream of them: ten at most, and nothing to wait for. */
@Injectable()
export class EndpointsView {
  constructor(
    @Inject(COMMAND_LOOP) private readonly loop: Pick<CommandLoop, 'show'>,
    private readonly failing: FailingEndpoints,
  ) {}

  /** The merchant's endpoints, oldest first. */
  async list(merchantId: string): Promise<WebhookEndpoint[]> {
    const { byId } = await this.loop.show(webhookEndpoints, merchantId);
    return this.withFailures([...byId.values()].toSorted((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1)));
  }

  async find(merchantId: string, id: string): Promise<WebhookEndpoint | null> {
    const endpoint = (await this.loop.show(webhookEndpoints, merchantId)).byId.get(id);
    return endpoint ? (await this.withFailures([endpoint]))[0]! : null;
  }

  async owns(merchantId: string, id: string): Promise<boolean> {
    return (await this.loop.show(webhookEndpoints, merchantId)).byId.has(id);
  }

  private async withFailures(endpoints: readonly Endpoint[]): Promise<WebhookEndpoint[]> {
    const failures = await this.failing.counts(endpoints.map(({ id }) => id));
    return endpoints.map((endpoint) => endpointJson(endpoint, failures.get(endpoint.id) ?? 0));
  }
}

function placeOf({ createdAt, id }: Endpoint): string {
  return `${createdAt} ${id}`;
}

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

  @ApiProperty({ ...TIME, nullable: true }) disabled_at!: string | null;
}

/** In the responses to registration and rotation alone. */
export class WebhookEndpointWithSecret extends WebhookEndpoint {
  @ApiProperty({ type: 'string', pattern: '^whsec_[A-Za-z0-9+/]{43}=$' }) signing_secret!: string;
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
