import { Injectable } from '@nestjs/common';
import { DomainError } from '../../../kernel/domain-error.js';
import { ApiProperty } from '../../../platform/dto/field.js';
import { COUNT, TIME, UUID } from '../../../platform/dto/rules.js';
import { CommandLoop } from '../../../platform/event-store/command-loop.js';
import { Searches, type Found, type SearchQuery } from '../../../platform/operations/search.js';
import { Database } from '../../../platform/postgres/database.js';
import { listPage, type KeysetPage } from '../../../platform/postgres/list-page.js';
import { SubscriptionProgress } from '../../../platform/projections/subscription-progress.js';
import { AutomaticDisablingProcessor } from './automatic-disabling.processor.js';
import { DELIVERIES_SAGA } from '../deliveries/deliveries.saga.js';
import {
  DESCRIPTION_LIMIT,
  DISABLE_CAUSES,
  ENDPOINT_STATUSES,
  FAILURE_COUNT_LIMIT,
  webhookEndpoints,
  type DisableCause,
  type Endpoint,
  type EndpointStatus,
} from './webhook-endpoints.js';

export interface EndpointsFilter extends KeysetPage {
  readonly status?: EndpointStatus | undefined;
  readonly endpoint_id?: string | undefined;
}

/** The endpoint in the API (contract.md 12), with extensions. */
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
    enum: DISABLE_CAUSES,
    nullable: true,
    description: 'By a PATCH, by a response with 410, or by sustained failures; null while enabled.',
  })
  disabled_cause!: DisableCause | null;

  @ApiProperty({ ...TIME, nullable: true }) disabled_at!: string | null;
}

/** The webhook endpoints of one merchant, read from its stream, and of all merchants, read from a table. */
@Injectable()
export class EndpointsView {
  constructor(
    private readonly loop: CommandLoop,
    private readonly disabling: AutomaticDisablingProcessor,
    private readonly database: Database,
    private readonly progress: SubscriptionProgress,
  ) {}

  /** Returns a page of endpoints, newest first; null `merchants` means all. */
  async page(merchants: readonly string[] | null, filter: EndpointsFilter) {
    const list = {
      columns: `endpoint_id as id, merchant_id, url, description, status, created_at, updated_at, event_types,
        disabled_cause, disabled_at`,
      from: 'webhooks.endpoint_snapshots',
      id: 'endpoint_id',
      lanes: { column: 'merchant_id', type: 'uuid', values: merchants },
      where: {
        [`status <> 'deleted'`]: true,
        'status = ?': filter.status,
        'endpoint_id = ?': filter.endpoint_id,
      },
    } as const;
    type Row = Omit<WebhookEndpoint, 'failure_count'> & { readonly merchant_id: string };
    const { rows, next_cursor } = await listPage<Row>(this.database, list, filter);
    const failures = await this.disabling.counts(rows.map(({ id }) => id));
    const webhook_endpoints = rows.map(({ disabled_cause, disabled_at, ...row }) => {
      return { ...row, failure_count: failures.get(row.id) ?? 0, disabled_cause, disabled_at };
    });
    return { webhook_endpoints, next_cursor };
  }

  async list(merchantId: string): Promise<WebhookEndpoint[]> {
    const { byId } = await this.loop.loadForDisplay(webhookEndpoints, merchantId);
    const failures = await this.disabling.counts([...byId.keys()]);
    const place = ({ created_at, endpoint_id }: Endpoint): string => `${created_at} ${endpoint_id}`;
    return [...byId.values()]
      .toSorted((a, b) => (place(a) < place(b) ? -1 : 1))
      .map((each) => toEndpointDto(each, failures.get(each.endpoint_id) ?? 0));
  }

  async get(merchantId: string, id: string): Promise<WebhookEndpoint> {
    const endpoint = (await this.list(merchantId)).find((each) => each.id === id);
    if (endpoint === undefined) throw DomainError.notFound('Webhook endpoint');
    return endpoint;
  }

  @Searches('webhooks:read')
  async search({ uuid }: SearchQuery): Promise<readonly Found[]> {
    if (uuid === null) return [];
    await this.progress.waitUntilCurrent(DELIVERIES_SAGA);
    const { webhook_endpoints } = await this.page(null, { endpoint_id: uuid, page_size: 1 });
    return webhook_endpoints.map(({ id, merchant_id, url, status }) => ({
      kind: 'webhook_endpoint',
      id,
      merchant_id,
      // The path of the URL may contain a token of the merchant.
      title: `Webhook endpoint at ${new URL(url).host}, ${status}`,
    }));
  }
}

export function toEndpointDto(endpoint: Endpoint, failure_count: number): WebhookEndpoint {
  const { endpoint_id: id, url, description, status, created_at, updated_at, event_types } = endpoint;
  const { disabled_cause, disabled_at } = endpoint;
  const disabling = { failure_count, disabled_cause, disabled_at };
  return { id, url, description, status, created_at, updated_at, event_types, ...disabling };
}
