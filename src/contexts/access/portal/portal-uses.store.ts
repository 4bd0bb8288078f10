import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/postgres/database.js';

const IDLE_SECONDS = 3600;
const SEEN_EVERY_SECONDS = 60;
const KEPT_DAYS = 90;

/** The last uses of portal sessions, by the clock of the database. */
@Injectable()
export class PortalUses {
  constructor(private readonly database: Database) {}

  async begin(sessionId: string): Promise<void> {
    await this.database.query(
      `with old as (
         delete from access.portal_session_uses where last_seen_at < now() - ${KEPT_DAYS} * interval '1 day'
       )
       insert into access.portal_session_uses (session_id, last_seen_at) values ($1, now())
       on conflict (session_id) do update set last_seen_at = excluded.last_seen_at`,
      [sessionId],
    );
  }

  /** Returns false for a session idle for an hour. If `uses` is true, the request counts as activity. */
  async find(sessionId: string, uses: boolean): Promise<boolean> {
    const rows = await this.database.query(
      `with found as (
         select session_id, last_seen_at from access.portal_session_uses
         where session_id = $1 and last_seen_at > now() - ${IDLE_SECONDS} * interval '1 s'
       ), seen as (
         update access.portal_session_uses uses set last_seen_at = now() from found
         where uses.session_id = found.session_id and $2
           and found.last_seen_at < now() - ${SEEN_EVERY_SECONDS} * interval '1 s'
       )
       select from found`,
      [sessionId, uses],
    );
    return rows.length > 0;
  }
}
