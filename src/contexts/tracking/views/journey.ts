import { Injectable } from '@nestjs/common';
import { isoOfMicroseconds, microsecondsOfIso } from '../../../kernel/instant.js';
import type { ExactPlace } from '../../../platform/postgres/list-page.js';
import { Database } from '../../../platform/postgres/database.js';
import { encodeExactCursor } from '../../../platform/postgres/page-cursor.js';

/** Dates are `YYYY-MM-DD`, whole days in UTC, both inclusive. */
export interface JourneyFilter {
  /** In lower case. */
  readonly event_name?: string;
  readonly event_from?: string;
  readonly event_to?: string;
  readonly page_size: number;
  /** The last place of the previous page. */
  readonly page_cursor?: ExactPlace;
}

interface JourneyRow {
  readonly event_id: string;
  readonly event_name: string;
  /** ISO 8601 in UTC, with microseconds. */
  readonly event_datetime: string;
  readonly user_external_id: string;
  readonly device_id: string | null;
  /** JSON text; null beyond {@link PAGE_BYTES}. */
  readonly payload: string | null;
  readonly received_at: Date;
  readonly matches: boolean;
}

/** Events that one page may scan: where few match, a page holds less than its size and its cursor continues from there. */
export const SCANNED_EVENTS = 5000;

/** A page adds no event after this many bytes of payloads: a thousand may have a gigabyte. */
const PAGE_BYTES = 4 << 20;

export const NO_EVENTS = '{"events":[],"next_cursor":null}';

const NEWEST_FIRST = 'order by event_datetime desc, event_id desc';
const COLUMNS = 'event_id, event_name, event_datetime, user_external_id, device_id, payload, received_at';

/** What did a user do? */
@Injectable()
export class JourneyView {
  constructor(private readonly database: Database) {}

  /** The JSON text of one page, newest `event_datetime` first. Payloads are the text that was sent. */
  async page(merchantId: string, externalId: string, filter: JourneyFilter): Promise<string> {
    const { sql, params } = pageQuery(merchantId, externalId, filter);
    const rows = await this.database.query<JourneyRow>(sql, params);
    const matching = rows.filter((row) => row.matches);
    const page = matching.slice(0, filter.page_size).filter(({ payload }) => payload !== null);
    const last = matching.length > page.length ? page.at(-1) : rows.find((row) => !row.matches);
    const cursor = last === undefined ? 'null' : `"${encodeExactCursor(cursorOf(last))}"`;
    return `{"events":[${page.map(eventJson).join()}],"next_cursor":${cursor}}`;
  }
}

function pageQuery(
  merchantId: string,
  externalId: string,
  { event_name, event_from, event_to, page_size, page_cursor: after }: JourneyFilter,
): { readonly sql: string; readonly params: readonly string[] } {
  const params = [merchantId, externalId];
  const parameter = (value: string): string => `$${params.push(value)}`;
  const place = ['merchant_id = $1', 'user_external_id = $2'];
  if (event_from !== undefined)
    place.push(`event_datetime >= ${parameter(event_from)}::date::timestamp at time zone 'UTC'`);
  if (event_to !== undefined)
    place.push(`event_datetime < (${parameter(event_to)}::date + 1)::timestamp at time zone 'UTC'`);
  if (after !== undefined) {
    const time = parameter(isoOfMicroseconds(after.microseconds));
    place.push(`(event_datetime, event_id) < (${time}::timestamptz, ${parameter(after.id)}::uuid)`);
  }
  const matches = event_name === undefined ? 'true' : `event_name = ${parameter(event_name)}`;
  const limit = event_name === undefined ? page_size + 1 : SCANNED_EVENTS;
  // The last scanned event is the cursor of a page that is not full.
  const sql = `with scanned as materialized (
      select ${COLUMNS} from tracking.events where ${place.join(' and ')} ${NEWEST_FIRST} limit ${limit}),
    found as (
      (select *, true as matches,
         sum(octet_length(payload)) over (${NEWEST_FIRST}) - octet_length(payload) as bytes_before
       from scanned where ${matches} ${NEWEST_FIRST} limit ${page_size + 1})
      union all
      (select *, false, ${PAGE_BYTES} from scanned ${NEWEST_FIRST} offset ${limit - 1} limit 1))
    select event_id, event_name, user_external_id, device_id, received_at, matches,
      case when bytes_before < ${PAGE_BYTES} then payload end as payload,
      to_char(event_datetime at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as event_datetime
    from found`;
  return { sql, params };
}

function cursorOf({ event_datetime, event_id }: JourneyRow): ExactPlace {
  return { microseconds: microsecondsOfIso(event_datetime), id: event_id };
}

function eventJson(row: JourneyRow): string {
  const { event_id, event_name, event_datetime, user_external_id, device_id, payload, received_at } = row;
  const before = JSON.stringify({
    event_id,
    event_name,
    event_datetime: shortened(event_datetime),
    user_external_id,
    device_id,
  });
  return `${before.slice(0, -1)},"payload":${payload},"received_at":"${received_at.toISOString()}"}`;
}

/** Microseconds only where there are any. */
function shortened(iso: string): string {
  return iso.replace(/000Z$/, 'Z');
}
