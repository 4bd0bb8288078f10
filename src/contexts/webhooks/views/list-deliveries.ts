import { pageConditions, type CreatedPage } from '../../../platform/postgres/created-page.js';
import type { Database } from '../../../platform/postgres/database.js';
import { encodeCursor } from '../../../platform/http/page-cursor.js';
import type { DeliveryJson, DeliveryStatus } from '../domain/delivery-json.js';
import type { EventType } from '../domain/envelope.js';
import { DELIVERY_COLUMNS, deliveryJson, type DeliveryColumns } from './delivery-columns.js';

/** What GET webhook_endpoints/{id}/deliveries asks for. */
export interface DeliveryFilter extends CreatedPage {
  readonly status?: DeliveryStatus;
  readonly type?: EventType;
}

export interface DeliveryPage {
  readonly webhook_deliveries: readonly DeliveryJson[];
  readonly next_cursor: string | null;
}

/**
 * Deliveries that one page may look at: where a filter matches few of many, a page holds less than its size rather than
 * taking its time, and its cursor goes on from there. Hot tables have no index for every filter.
 */
export const LOOKED_AT = 5000;

const NEWEST_FIRST = 'order by created_at desc, delivery_id desc';

/** One page of the endpoint's deliveries, newest first. Whose endpoint it is, the caller has made sure of. */
export async function listDeliveries(
  database: Database,
  endpointId: string,
  filter: DeliveryFilter,
): Promise<DeliveryPage> {
  const params: (string | Date)[] = [endpointId];
  const parameter = (value: string | Date): string => `$${params.push(value)}`;
  const wanted = [
    ...(filter.status === undefined ? [] : [`state = ${parameter(filter.status)}`]),
    ...(filter.type === undefined ? [] : [`type = ${parameter(filter.type)}`]),
  ];
  const place = ['endpoint_id = $1', ...pageConditions(filter, 'delivery_id', parameter)];
  const source =
    filter.status === 'pending' && (await hasFewPending(database, endpointId))
      ? allPending(place)
      : newest(place, filter, wanted.length === 0 ? filter.pageSize + 1 : LOOKED_AT);
  const rows = await database.query<DeliveryColumns & { readonly matches: boolean }>(
    // The last one that was looked at tells where to go on when the page is not full.
    `with looked_at as materialized (${source.sql}),
       matching as (
         select *, true as matches from looked_at where ${['true', ...wanted].join(' and ')}
         ${NEWEST_FIRST} limit ${filter.pageSize + 1})
     (select * from matching)
     union all
     (select *, false from looked_at ${NEWEST_FIRST} offset ${source.most - 1} limit 1)`,
    params,
  );
  const matching = rows.filter((row) => row.matches);
  const page = matching.slice(0, filter.pageSize);
  const last = matching.length > page.length ? page.at(-1) : rows.find((row) => !row.matches);
  return {
    webhook_deliveries: page.map(deliveryJson),
    next_cursor: last ? encodeCursor({ createdAt: last.created_at, id: last.delivery_id }) : null,
  };
}

interface Source {
  readonly sql: string;
  /** Rows it gives at most; with fewer the list is at its end. */
  readonly most: number;
}

/** In the order of the index of the endpoint's deliveries, or of the smaller one of those that it did not get. */
function newest(place: readonly string[], { status }: DeliveryFilter, most: number): Source {
  const unsent = status === 'exhausted' || status === 'dropped' ? [`state in ('exhausted', 'dropped')`] : [];
  const conditions = [...place, ...unsent].join(' and ');
  return {
    sql: `select ${DELIVERY_COLUMNS} from webhooks.deliveries where ${conditions} ${NEWEST_FIRST} limit ${most}`,
    most,
  };
}

/** Through the indexes of the lanes: what is pending may be rare and far back among what succeeded. */
function allPending(place: readonly string[]): Source {
  const pending = (lease: string): string =>
    `select ${DELIVERY_COLUMNS} from webhooks.deliveries
     where ${place.join(' and ')} and state = 'pending' and leased_by is ${lease}`;
  return { sql: `${pending('null')} union all ${pending('not null')}`, most: Number.MAX_SAFE_INTEGER };
}

async function hasFewPending(database: Database, endpointId: string): Promise<boolean> {
  const [row] = await database.query<{ found: number }>(
    `select count(*)::int as found from (select 1 from webhooks.deliveries
       where endpoint_id = $1 and state = 'pending' and leased_by is null limit ${LOOKED_AT + 1}) pending`,
    [endpointId],
  );
  return row!.found <= LOOKED_AT;
}
