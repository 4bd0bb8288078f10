import { Injectable } from '@nestjs/common';
import { Searches, type Found, type SearchQuery } from '../../../platform/operations/search.js';
import { SubscriptionProgress } from '../../../platform/projections/subscription-progress.js';
import { mergedKeysetPage, ReadModels, type KeysetPage } from '../../../platform/read-models/read-models.js';
import { endpointJson, type EndpointJson, type EndpointStatus } from '../domain/webhook-endpoints.js';
import { DELIVERIES_SAGA } from '../store/endpoint-snapshots.js';
import { FailingEndpoints } from '../store/failing-endpoints.js';
import { EndpointRow } from './endpoint-row.js';

export interface EndpointsFilter extends KeysetPage {
  /** Null: of every merchant. */
  readonly merchantIds: readonly string[] | null;
  readonly status?: EndpointStatus | undefined;
  readonly endpointId?: string | undefined;
}

/** An endpoint of the merchant API, and whose it is. */
type AdminEndpointJson = EndpointJson & { readonly merchant_id: string };

export interface EndpointsPage {
  readonly webhook_endpoints: readonly AdminEndpointJson[];
  readonly next_cursor: string | null;
}

/** Which webhook endpoints are there? For operators, of all merchants; for the portal, of one. */
@Injectable()
export class EndpointsList {
  constructor(
    private readonly models: ReadModels,
    private readonly failing: FailingEndpoints,
    private readonly progress: SubscriptionProgress,
  ) {}

  /** Newest first. */
  async page(filter: EndpointsFilter): Promise<EndpointsPage> {
    const { merchantIds } = filter;
    if (merchantIds?.length === 0) return { webhook_endpoints: [], next_cursor: null };
    const queries = await Promise.all((merchantIds ?? [null]).map((id) => this.query(id, filter)));
    const { rows, next_cursor } = await mergedKeysetPage(queries, filter, { time: 'createdAt', id: 'id' });
    const failures = await this.failing.counts(rows.map(({ id }) => id));
    return { webhook_endpoints: rows.map((row) => jsonOf(row, failures.get(row.id) ?? 0)), next_cursor };
  }

  @Searches('webhooks:read')
  async search({ uuid }: SearchQuery): Promise<readonly Found[]> {
    if (uuid === null) return [];
    await this.progress.waitUntilCurrent(DELIVERIES_SAGA);
    const { webhook_endpoints } = await this.page({ merchantIds: null, endpointId: uuid, pageSize: 1 });
    return webhook_endpoints.map(({ id, merchant_id, url, status }) => ({
      kind: 'webhook_endpoint',
      id,
      merchant_id,
      // Its path may hold a token of the merchant.
      title: `Webhook endpoint at ${new URL(url).host}, ${status}`,
    }));
  }

  private async query(merchantId: string | null, { status, endpointId }: EndpointsFilter) {
    const query = await this.models.query(EndpointRow, 'e');
    query.where(`e.status <> 'deleted'`);
    if (merchantId !== null) query.andWhere('e.merchantId = :merchantId', { merchantId });
    if (status !== undefined) query.andWhere('e.status = :status', { status });
    if (endpointId !== undefined) query.andWhere('e.id = :endpointId', { endpointId });
    return query;
  }
}

function jsonOf(row: EndpointRow, failures: number): AdminEndpointJson {
  const { id, url, description, status, eventTypes, disabledCause, disabledAt } = row;
  if (status === 'deleted') throw new Error('a list holds no deleted endpoint');
  const times = {
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
    disabledAt: disabledAt?.toISOString() ?? null,
  };
  const endpoint = { id, url, description, status, eventTypes, disabledCause, ...times };
  return { ...endpointJson(endpoint, failures), merchant_id: row.merchantId };
}
