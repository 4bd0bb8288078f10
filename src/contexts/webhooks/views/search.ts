import type { Found, Search } from '../../../platform/operations/search.js';
import type { Get } from '../../../platform/operations/operation-definition.js';
import { Database } from '../../../platform/postgres/database.js';

const SCOPE = 'webhooks:read';

/** Endpoints and deliveries by their ids. */
export function webhookSearches(get: Get): readonly Search[] {
  const byId = (sql: string): Search => ({
    scope: SCOPE,
    find: async ({ uuid }) =>
      uuid === null ? [] : get(Database).query<Found & Record<string, unknown>>(sql, [uuid]),
  });
  return [
    byId(
      `select 'webhook_endpoint' as kind, endpoint_id::text as id, merchant_id, url || ', ' || status as title
       from webhooks.endpoint_snapshots where endpoint_id = $1 and status <> 'deleted'`,
    ),
    byId(
      `select 'delivery' as kind, delivery_id::text as id, merchant_id, type || ', ' || state as title
       from webhooks.deliveries where delivery_id = $1`,
    ),
  ];
}
