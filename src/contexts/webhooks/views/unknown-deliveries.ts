import type { Database } from '../../../platform/postgres/database.js';

/** Of these webhook ids, those that no delivery has. */
export async function unknownDeliveries(
  database: Pick<Database, 'query'>,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await database.query<{ id: string }>(
    `select id from unnest($1::uuid[]) id
     where not exists (select from webhooks.deliveries where delivery_id = id)`,
    [ids],
  );
  return new Set(rows.map(({ id }) => id));
}
