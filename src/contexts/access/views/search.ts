import type { Found, Search } from '../../../platform/operations/search.js';
import type { Get } from '../../../platform/context.js';
import { Database } from '../../../platform/postgres/database.js';

/** Merchants, credentials and operators by their ids, operators by email too, and logged requests by their ids. */
export function accessSearches(get: Get): readonly Search[] {
  const database = (): Database => get(Database);
  const byId = (scope: string, sql: string): Search => ({
    scope,
    find: async ({ uuid }) =>
      uuid === null ? [] : database().query<Found & Record<string, unknown>>(sql, [uuid]),
  });
  return [
    byId(
      'merchants:read',
      `select 'merchant' as kind, merchant_id::text as id, merchant_id, name || ', ' || status as title
       from access.merchants where merchant_id = $1`,
    ),
    byId(
      'credentials:read',
      `select 'credential' as kind, credential_id::text as id, merchant_id,
         coalesce(name, 'Credential') || ' (' || kind || ')' as title
       from access.credentials
       where credential_id = $1 or (key_id = $1 and kind <> 'payouts') limit 20`,
    ),
    {
      scope: 'operators:read',
      find: async ({ text, uuid }) =>
        database().query<Found & Record<string, unknown>>(
          `select 'operator' as kind, operator_id::text as id, null as merchant_id, name || ', ' || role as title
           from access.operators where operator_id = $1 or lower(email) = lower($2) limit 20`,
          [uuid, text],
        ),
    },
    byId(
      'requests:read',
      `select 'request' as kind, request_id::text as id, merchant_id, method || ' ' || path || ', ' || status as title
       from access.requests where request_id = $1 and at > now() - interval '7 days'`,
    ),
  ];
}
