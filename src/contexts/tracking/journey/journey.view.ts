import { Injectable } from '@nestjs/common';
import { afterPlace, inDays, toConditions, type KeysetPage } from '../../../platform/postgres/list-page.js';
import { Database } from '../../../platform/postgres/database.js';
import { encodeCursor } from '../../../platform/postgres/page-cursor.js';

/** The filter of a journey. Days are `YYYY-MM-DD` in UTC; both are inclusive. */
export interface JourneyFilter extends KeysetPage {
  readonly event_name?: string;
  readonly event_from?: string;
  readonly event_to?: string;
}

interface JourneyRow {
  /** The event as JSON; null if the payloads of newer events on the page reach PAGE_BYTES. */
  readonly event: string | null;
  readonly event_id: string;
  readonly at: string;
  readonly matches: boolean;
}

/** The maximum of events that one page scans. The cursor of a short page is the last scanned event. */
export const SCANNED_EVENTS = 5000;

/** The bytes of payloads after which a page ends. */
const PAGE_BYTES = 4 << 20;

const NO_EVENTS = '{"events":[],"next_cursor":null}';

const NEWEST_FIRST = 'order by event_datetime desc, event_id desc';
const COLUMNS = 'event_id, event_name, event_datetime, user_external_id, device_id, payload, received_at';

@Injectable()
export class JourneyView {
  constructor(private readonly database: Database) {}

  /** Returns the JSON of one page, newest `event_datetime` first. Payloads are kept byte for byte. */
  async page(merchantId: string, externalId: string | null, filter: JourneyFilter): Promise<string> {
    // PostgreSQL cannot store NUL, so no event has such an id.
    if (externalId === null || externalId.includes('\0')) return NO_EVENTS;
    const { sql, params } = pageQuery(merchantId, externalId, filter);
    const rows = await this.database.query<JourneyRow>(sql, params);
    const matching = rows.filter((row) => row.matches);
    const page = matching.slice(0, filter.page_size).filter(({ event }) => event !== null);
    const last = matching.length > page.length ? page.at(-1) : rows.find((row) => !row.matches);
    const cursor = last === undefined ? 'null' : `"${encodeCursor(last.at, last.event_id)}"`;
    return `{"events":[${page.map(({ event }) => event).join()}],"next_cursor":${cursor}}`;
  }
}

function pageQuery(
  merchantId: string,
  externalId: string,
  { event_name, event_from, event_to, page_size, page_cursor }: JourneyFilter,
): { readonly sql: string; readonly params: readonly unknown[] } {
  const params: unknown[] = [];
  const days = inDays('event_datetime', event_from, event_to);
  const place = [
    ...toConditions({ 'merchant_id = ?': merchantId, 'user_external_id = ?': externalId, ...days }, params),
    ...afterPlace(page_cursor, 'event_datetime', 'event_id', params),
  ];
  const [matches = 'true'] = toConditions({ 'event_name = ?': event_name }, params);
  const limit = event_name === undefined ? page_size + 1 : SCANNED_EVENTS;
  const sql = `with scanned as materialized (
      select ${COLUMNS} from tracking.events where ${place.join(' and ')} ${NEWEST_FIRST} limit ${limit}),
    found as (
      (select *, true as matches,
         sum(octet_length(payload)) over (${NEWEST_FIRST}) - octet_length(payload) as bytes_before
       from scanned where ${matches} ${NEWEST_FIRST} limit ${page_size + 1})
      union all
      (select *, false, ${PAGE_BYTES} from scanned ${NEWEST_FIRST} offset ${limit - 1} limit 1))
    select event_id, matches, utc.at, case when bytes_before < ${PAGE_BYTES} then
      format('{"event_id":%s,"event_name":%s,"event_datetime":"%s","user_external_id":%s,"device_id":%s,"payload":%s,"received_at":"%s"}',
        to_json(event_id), to_json(event_name), regexp_replace(utc.at, '000Z$', 'Z'), to_json(user_external_id),
        coalesce(to_json(device_id)::text, 'null'), payload,
        to_char(received_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) end as event
    from found cross join lateral (
      select to_char(event_datetime at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at) utc`;
  return { sql, params };
}
