import { Injectable } from '@nestjs/common';
import { CommandLoop } from '../../../platform/event-store/command-loop.js';
import { Searches, type Found, type SearchQuery } from '../../../platform/operations/search.js';
import { Database } from '../../../platform/postgres/database.js';
import { listPage, type KeysetPage } from '../../../platform/postgres/list-page.js';
import { SubscriptionProgress } from '../../../platform/projections/subscription-progress.js';
import { AutomaticDisabling } from './automatic-disabling.processor.js';
import { DELIVERIES_SAGA } from '../deliveries/deliveries.saga.js';
import { webhookEndpoints, type Endpoint, type EndpointStatus } from './webhook-endpoints.js';

export interface EndpointsFilter extends KeysetPage {
  readonly status?: EndpointStatus | undefined;
  readonly endpoint_id?: string | undefined;
}

type ListedEndpoint = EndpointJson & { readonly merchant_id: string };

export interface EndpointsPage {
  readonly webhook_endpoints: readonly ListedEndpoint[];
  readonly next_cursor: string | null;
}

/** The webhook endpoints of one merchant, read from its stream, and of all merchants, read from a table. */
@Injectable()
export class EndpointsView {
  constructor(
    private readonly loop: CommandLoop,
    private readonly disabling: AutomaticDisabling,
    private readonly database: Database,
    private readonly progress: SubscriptionProgress,
  ) {}

  /** Returns a page of the endpoints of these merchants, newest first, without secrets. Null: of all. */
  async page(merchants: readonly string[] | null, filter: EndpointsFilter): Promise<EndpointsPage> {
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
    const { rows, next_cursor } = await listPage<Omit<ListedEndpoint, 'failure_count'>>(
      this.database,
      list,
      filter,
    );
    const failures = await this.disabling.counts(rows.map(({ id }) => id));
    const webhook_endpoints = rows.map((row) => ({ ...row, failure_count: failures.get(row.id) ?? 0 }));
    return { webhook_endpoints, next_cursor };
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

  /** Returns the merchant's endpoints, oldest first. */
  async list(merchantId: string): Promise<EndpointJson[]> {
    const { byId } = await this.loop.loadForDisplay(webhookEndpoints, merchantId);
    const place = ({ created_at, endpoint_id }: Endpoint): string => `${created_at} ${endpoint_id}`;
    return this.withFailures([...byId.values()].toSorted((a, b) => (place(a) < place(b) ? -1 : 1)));
  }

  async find(merchantId: string, id: string): Promise<EndpointJson | null> {
    const endpoint = (await this.loop.loadForDisplay(webhookEndpoints, merchantId)).byId.get(id);
    return endpoint ? (await this.withFailures([endpoint]))[0]! : null;
  }

  async owns(merchantId: string, id: string): Promise<boolean> {
    return (await this.loop.loadForDisplay(webhookEndpoints, merchantId)).byId.has(id);
  }

  private async withFailures(endpoints: readonly Endpoint[]): Promise<EndpointJson[]> {
    const failures = await this.disabling.counts(endpoints.map((each) => each.endpoint_id));
    return endpoints.map((each) => endpointJson(each, failures.get(each.endpoint_id) ?? 0));
  }
}

type EndpointJson = ReturnType<typeof endpointJson>;

/** The endpoint in the API (contract.md 12), with extensions. */
export function endpointJson(endpoint: Endpoint, failure_count: number) {
  const { endpoint_id: id, url, description, status, created_at, updated_at, event_types } = endpoint;
  const { disabled_cause, disabled_at } = endpoint;
  const disabling = { failure_count, disabled_cause, disabled_at };
  return { id, url, description, status, created_at, updated_at, event_types, ...disabling };
}
