import { Injectable } from '@nestjs/common';
import {
  afterPlace,
  inDays,
  PAGE_BYTES,
  toConditions,
  type KeysetPage,
} from '../../../platform/postgres/list-page.js';
import { Database } from '../../../platform/postgres/database.js';
import { encodeCursor } from '../../../platform/postgres/page-cursor.js';

/** Dates are `YYYY-MM-DD`, inclusive days in UTC. */
export interface JourneyFilter extends KeysetPage {
  readonly event_name?: string;
  readonly event_from?: string;
  readonly event_to?: string;
}

interface JourneyRow {
  /** JSON; null beyond {@link PAGE_BYTES}. */
  readonly event: string | null;
  readonly event_id: string;
  readonly at: string;
}

const NO_EVENTS = '{"events":[],"next_cursor":null}';

const NEWEST_FIRST = 'order by event_datetime desc, event_id desc';
const COLUMNS = 'event_id, event_name, event_datetime, user_external_id, device_id, payload, received_at';

@Injectable()
export class JourneyView {
  constructor(private readonly database: Database) {}

  /** Returns the JSON of one page, newest `event_datetime` first. Payloads are kept byte for byte. */
  async page(merchantId: string, externalId: string | null, filter: JourneyFilter): Promise<string> {
    // PostgreSQL stores no NUL characters.
    if (externalId === null || externalId.includes('\0')) return NO_EVENTS;
    const { event_name, event_from, event_to, page_size, page_cursor } = filter;
    const params: unknown[] = [];
    const where = {
      'merchant_id = ?': merchantId,
      'user_external_id = ?': externalId,
      'event_name = ?': event_name,
      ...inDays('event_datetime', event_from, event_to),
    };
    const conditions = [
      ...toConditions(where, params),
      ...afterPlace(page_cursor, 'event_datetime', 'event_id', params),
    ];
    const sql = `select event_id, utc.at, case when bytes_before < ${PAGE_BYTES} then
        format('{"event_id":%s,"event_name":%s,"event_datetime":"%s","user_external_id":%s,"device_id":%s,"payload":%s,"received_at":"%s"}',
          to_json(event_id), to_json(event_name), regexp_replace(utc.at, '000Z$', 'Z'), to_json(user_external_id),
          coalesce(to_json(device_id)::text, 'null'), payload,
          to_char(received_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) end as event
      from (
        select *, sum(octet_length(payload)) over (${NEWEST_FIRST}) - octet_length(payload) as bytes_before from (
          select ${COLUMNS} from tracking.events where ${conditions.join(' and ')} ${NEWEST_FIRST} limit ${page_size + 1}
        ) page
      ) measured cross join lateral (
        select to_char(event_datetime at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at) utc
      ${NEWEST_FIRST}`;
    const rows = await this.database.query<JourneyRow>(sql, params);
    const page = rows.slice(0, page_size).filter(({ event }) => event !== null);
    const last = rows.length > page.length ? page.at(-1) : undefined;
    const cursor = last === undefined ? 'null' : `"${encodeCursor(last.at, last.event_id)}"`;
    return `{"events":[${page.map(({ event }) => event).join()}],"next_cursor":${cursor}}`;
  }
}
