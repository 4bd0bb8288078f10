import { ApiProperty } from '../../../platform/dto/field.js';
import { COUNT, TIME, UUID } from '../../../platform/dto/rules.js';
import {
  afterPlace,
  inDays,
  toConditions,
  type CreatedDays,
  type KeysetPage,
} from '../../../platform/postgres/list-page.js';
import { encodeCursor } from '../../../platform/postgres/page-cursor.js';
import type { Database } from '../../../platform/postgres/database.js';
import { EVENT_TYPES, type EventType } from '../endpoints/event-types.js';
import { DELIVERY_STATUSES, type DeliveryStatus } from './retry.js';

export class WebhookDelivery {
  @ApiProperty({ ...UUID, description: 'The `webhook-id` header; the same for every attempt and resend.' })
  id!: string;

  @ApiProperty(UUID) webhook_endpoint_id!: string;
  @ApiProperty({ type: 'string', enum: EVENT_TYPES }) type!: string;

  @ApiProperty({
    type: 'string',
    enum: DELIVERY_STATUSES,
    description:
      '`exhausted`: it is not tried again. `dropped`: the endpoint was disabled or deleted; nothing was sent. Both can be sent after all by resend and recover.',
  })
  status!: DeliveryStatus;

  @ApiProperty(COUNT) attempt_count!: number;
  @ApiProperty(TIME) created_at!: Date;

  @ApiProperty({
    ...TIME,
    nullable: true,
    description: 'Null unless pending. In the past while an attempt is in flight.',
  })
  next_attempt_at!: Date | null;

  @ApiProperty({ ...TIME, nullable: true, description: 'Null while pending.' }) finished_at!: Date | null;
}

/** A delivery in the APIs of operators and of the portal. */
export type DeliveryJson = WebhookDelivery & { readonly merchant_id: string };

/** The columns of DeliveryJson, selected from `webhooks.deliveries` as `d`. */
export const DELIVERY_JSON = `d.delivery_id as id, d.endpoint_id as webhook_endpoint_id, d.merchant_id, d.type,
  d.state as status, d.attempts as attempt_count, d.created_at,
  case when d.state = 'pending' then d.due_at end as next_attempt_at, d.finished_at`;

export function toMerchantJson({ merchant_id: _, ...json }: DeliveryJson) {
  return json;
}

export interface DeliveriesFilter extends CreatedDays, KeysetPage {
  readonly endpoint_id?: string | undefined;
  readonly status?: DeliveryStatus | undefined;
  readonly type?: EventType | undefined;
  readonly from?: { readonly at: Date } | undefined;
  readonly to?: { readonly end: Date } | undefined;
}

/** The endpoints to list. Null `endpoints` means all endpoints of `merchants`; null `merchants` means all. */
interface Lanes {
  readonly endpoints: readonly string[] | null;
  readonly merchants?: readonly string[] | null;
}

/** The limit of deliveries read for one page. A page with few matches is short and has a cursor. */
export const READ_AT_ONCE = 5000;

const NEWEST_FIRST = 'order by created_at desc, delivery_id desc';
const COLUMNS =
  'delivery_id, endpoint_id, merchant_id, type, state, attempts, created_at, due_at, finished_at';

export interface DeliveriesPage {
  readonly deliveries: readonly DeliveryJson[];
  readonly next_cursor: string | null;
}

/** Reads a page. It ends at the last read row of an endpoint with unread rows, so that no row is skipped. */
export async function deliveryPage(
  database: Pick<Database, 'query'>,
  { endpoints, merchants }: Lanes,
  filter: DeliveriesFilter,
): Promise<DeliveriesPage> {
  if (endpoints?.length === 0) return { deliveries: [], next_cursor: null };
  const { status, type, page_size: size, from, to } = filter;
  const params: unknown[] = [];
  const lanes = endpoints === null ? null : `$${params.push(endpoints)}::uuid[]`;
  const days = inDays('created_at', filter.created_from, filter.created_to);
  const place = [
    ...toConditions({ ...days, 'created_at >= ?': from?.at, 'created_at < ?': to?.end }, params),
    ...afterPlace(filter.page_cursor, 'created_at', 'delivery_id', params),
  ];
  const conditions = toConditions(
    { 'state = ?': status, 'type = ?': type, 'merchant_id = any(?)': merchants },
    params,
  );
  const share = Math.ceil(READ_AT_ONCE / (endpoints?.length ?? 1));
  const max = conditions.length > 0 ? share : Math.min(2 * share, size + 1);
  const isPending = status === 'pending' && (await hasFewPending(database, endpoints));
  // Unsent deliveries have separate indexes.
  const isUnsent = status === 'exhausted' || status === 'dropped';
  const unsent = lanes === null ? `state = '${status}'` : `state in ('exhausted', 'dropped')`;
  const source = isPending
    ? allPending(lanes, place)
    : newest(lanes, isUnsent ? [...place, unsent] : place, max);
  const found = await database.query<DeliveryJson & { readonly matches: boolean }>(
    pageSql(source, max, conditions, size),
    params,
  );
  const matching = found.filter((row) => row.matches);
  const page = matching.slice(0, size);
  const last = matching.length > page.length ? page.at(-1) : found.find((row) => !row.matches);
  return {
    deliveries: page.map(({ matches: _, ...row }) => row),
    next_cursor: last ? encodeCursor(last.created_at, last.id) : null,
  };
}

/** Selects the page and the row where a short page ends. A lane with fewer than `max` rows was read fully. */
function pageSql(source: string, max: number, conditions: readonly string[], pageSize: number): string {
  return `with read_rows as materialized (${source}),
       ends as (select * from read_rows where place = ${max} ${NEWEST_FIRST} limit 1),
       matching as (
         select * from read_rows ${where(conditions)} and not exists (
           select from ends where (ends.created_at, ends.delivery_id) > (read_rows.created_at, read_rows.delivery_id))
         ${NEWEST_FIRST} limit ${pageSize + 1})
     (select ${DELIVERY_JSON}, true as matches from matching d ${NEWEST_FIRST})
     union all
     (select ${DELIVERY_JSON}, false from ends d)`;
}

const where = (conditions: readonly string[]): string => `where ${['true', ...conditions].join(' and ')}`;

/** Selects the newest rows of each lane by an index on time. `place` numbers the rows of a lane from 1. */
function newest(lanes: string | null, conditions: readonly string[], max: number): string {
  const ofLane = where([...(lanes === null ? [] : ['endpoint_id = lane.id']), ...conditions]);
  return `select of_lane.*, row_number() over (partition by lane.id ${NEWEST_FIRST}) as place
    from unnest(${lanes ?? 'array[null::uuid]'}) as lane (id) cross join lateral (
      select ${COLUMNS} from webhooks.deliveries ${ofLane} ${NEWEST_FIRST} limit ${max}) of_lane`;
}

/** Selects all pending rows by index, because they may be rare. `place` is 0, because no lane is cut off. */
function allPending(lanes: string | null, place: readonly string[]): string {
  const ofLanes = lanes === null ? [] : [`endpoint_id = any(${lanes})`];
  const pending = (lease: string): string =>
    `select ${COLUMNS}, 0 as place from webhooks.deliveries
     ${where([...place, ...ofLanes, `state = 'pending'`, `leased_by is ${lease}`])}`;
  return `${pending('null')} union all ${pending('not null')}`;
}

async function hasFewPending(
  database: Pick<Database, 'query'>,
  endpointIds: readonly string[] | null,
): Promise<boolean> {
  const [row] = await database.query<{ found: number }>(
    `select count(*)::int as found from (select 1 from webhooks.deliveries
       where ${endpointIds === null ? 'true' : 'endpoint_id = any($1::uuid[])'} and state = 'pending' and leased_by is null
       limit ${READ_AT_ONCE + 1}) pending`,
    endpointIds === null ? [] : [endpointIds],
  );
  return row!.found <= READ_AT_ONCE;
}
