import type { Found, Search } from '../../../platform/operations/search.js';
import type { Get } from '../../../platform/context.js';
import { Database } from '../../../platform/postgres/database.js';

/** Operations by id. */
export function operationSearch(get: Get): Search {
  return {
    scope: 'operations:read',
    find: async ({ uuid }) =>
      uuid === null
        ? []
        : get(Database).query<Found & Record<string, unknown>>(
            `select 'operation' as kind, id::text as id, merchant_id, name || ', ' || status as title
             from operations.operations where id = $1`,
            [uuid],
          ),
  };
}
