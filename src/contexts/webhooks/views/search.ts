import type { Get } from '../../../platform/context.js';
import type { Found, Search, SearchQuery } from '../../../platform/operations/search.js';
import { StoredDeliveries } from '../store/stored-deliveries.js';
import { EndpointsList } from './endpoints-list.js';

/** Webhook endpoints and deliveries by their ids. */
export function webhookSearches(get: Get): readonly Search[] {
  return [{ scope: 'webhooks:read', find: (query) => find(get, query) }];
}

async function find(get: Get, { uuid }: SearchQuery): Promise<readonly Found[]> {
  if (uuid === null) return [];
  const [{ webhook_endpoints }, delivery] = await Promise.all([
    get(EndpointsList).page({ merchantIds: null, endpointId: uuid, pageSize: 1 }),
    get(StoredDeliveries).find(null, uuid),
  ]);
  return [
    ...webhook_endpoints.map(({ id, merchant_id, url, status }) => ({
      kind: 'webhook_endpoint',
      id,
      merchant_id,
      // Its path may hold a token of the merchant.
      title: `Webhook endpoint at ${new URL(url).host}, ${status}`,
    })),
    ...(delivery === null
      ? []
      : [
          {
            kind: 'delivery',
            id: uuid,
            merchant_id: delivery.merchantId,
            title: `Delivery of ${delivery.json.type}, ${delivery.json.status}`,
          },
        ]),
  ];
}
