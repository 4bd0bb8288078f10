import { Injectable } from '@nestjs/common';
import { EventCodec } from '../../../platform/event-store/event-codec.js';
import { Database } from '../../../platform/postgres/database.js';
import { listPage, type KeysetPage } from '../../../platform/postgres/list-page.js';
import { subscriptionName, subscriptionOf } from '../../../platform/projections/projection.js';
import { portalSessionHistory } from '../domain/history.js';
import type { PortalActor, PortalSessionEvent } from '../domain/portal-session.js';

export const PORTAL_SESSIONS_VIEW = subscriptionName('access.portal_sessions');

const CREATED = 'portal_session.created.v1' satisfies PortalSessionEvent['type'];

/** Which sessions of the portal has a merchant opened? Actors stay sealed. */
export const portalSessionsProjection = subscriptionOf<PortalSessionEvent>({
  name: PORTAL_SESSIONS_VIEW,
  events: portalSessionHistory.events,
  staysSealed: true,
  async apply(events, tx, schema = 'access') {
    for (const { type, data } of events) {
      const { session_id } = data;
      if (type === CREATED)
        await tx.query(
          `insert into ${schema}.portal_sessions
             (session_id, merchant_id, actor, scopes, return_url, created_at, code_expires_at)
           values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing`,
          [
            session_id,
            data.merchant_id,
            data.actor,
            data.scopes,
            data.return_url,
            data.created_at,
            data.code_expires_at,
          ],
        );
      else if (type === 'portal_session.entered.v1')
        await tx.query(`update ${schema}.portal_sessions set session_expires_at = $2 where session_id = $1`, [
          session_id,
          data.session_expires_at,
        ]);
      else
        await tx.query(`update ${schema}.portal_sessions set revoked_at = $2 where session_id = $1`, [
          session_id,
          data.revoked_at,
        ]);
    }
  },
  tables: { schema: 'access', names: ['portal_sessions'] },
});

/** A session as merchants get it (admin-api.md 6). */
interface PortalSessionRow {
  readonly id: string;
  /** As it is in the event, sealed. */
  readonly actor: string | null;
}

const COLUMNS = `session_id as id, actor, scopes, return_url,
  case when revoked_at is not null then 'revoked'
    when coalesce(session_expires_at, code_expires_at) <= now() then 'expired'
    when session_expires_at is null then 'pending' else 'active' end as status,
  created_at, code_expires_at, session_expires_at, last_seen_at`;

@Injectable()
export class PortalSessionsView {
  constructor(
    private readonly database: Database,
    private readonly codec: EventCodec,
  ) {}

  /** A page of the merchant's sessions, newest first. */
  async page(merchantId: string, page: KeysetPage) {
    const list = {
      columns: COLUMNS,
      from: 'access.portal_sessions left join access.portal_session_uses using (session_id)',
      id: 'session_id',
      where: { 'merchant_id = ?': merchantId },
    };
    const { rows, next_cursor } = await listPage<PortalSessionRow>(this.database, list, page);
    const actors = await this.actorsOf(rows);
    return { portal_sessions: rows.map((row, n) => ({ ...row, actor: actors[n] ?? null })), next_cursor };
  }

  private async actorsOf(rows: readonly PortalSessionRow[]): Promise<readonly (PortalActor | null)[]> {
    const events = rows.map(({ id, actor }) => ({
      stream: `portal_session-${id}`,
      type: CREATED,
      data: { session_id: id, actor },
    }));
    const opened = await this.codec.open(events);
    return opened.map(({ data }) => data.actor as unknown as PortalActor | null);
  }
}
