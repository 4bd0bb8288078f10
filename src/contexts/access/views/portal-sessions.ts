import { Injectable } from '@nestjs/common';
import { EventCodec } from '../../../platform/event-store/event-codec.js';
import { Database } from '../../../platform/postgres/database.js';
import { encodeCursor } from '../../../platform/postgres/page-cursor.js';
import type { KeysetPage } from '../../../platform/read-models/read-models.js';
import { subscriptionName, subscriptionOf } from '../../../platform/projections/projection.js';
import { portalSessionHistory } from '../domain/history.js';
import {
  portalSessionStatus,
  type PortalActor,
  type PortalSession,
  type PortalSessionEvent,
} from '../domain/portal-session.js';

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

type Time = string | Date;

/** Times are in ISO 8601, or as PostgreSQL returns them. */
interface Displayed extends Pick<PortalSession, 'session_id' | 'actor' | 'scopes' | 'return_url'> {
  readonly created_at: Time;
  readonly code_expires_at: Time;
  readonly session_expires_at: Time | null;
  readonly revoked_at: Time | null;
  readonly last_seen_at: Time | null;
}

/** As merchants get it, at this time (admin-api.md 6). */
export function portalSessionJson(session: Displayed, at: string) {
  return {
    id: session.session_id,
    actor: session.actor,
    scopes: session.scopes,
    return_url: session.return_url,
    status: portalSessionStatus(session, at),
    created_at: session.created_at,
    code_expires_at: session.code_expires_at,
    session_expires_at: session.session_expires_at,
    last_seen_at: session.last_seen_at,
  };
}

/** The actor is as in the event, sealed. */
type Row = Omit<Displayed, 'actor' | 'created_at'> & {
  readonly actor: string | null;
  readonly created_at: Date;
};

@Injectable()
export class PortalSessionsView {
  constructor(
    private readonly database: Database,
    private readonly codec: EventCodec,
  ) {}

  /** A page of the merchant's sessions, newest first. `at`: ISO 8601. */
  async page(merchantId: string, { pageSize, after }: KeysetPage, at: string) {
    const rows = await this.database.query<Row>(
      `select s.*, u.last_seen_at from access.portal_sessions s left join access.portal_session_uses u using (session_id)
       where merchant_id = $1 and ($2::timestamptz is null or (created_at, session_id) < ($2, $3::uuid))
       order by created_at desc, session_id desc limit $4`,
      [merchantId, after?.createdAt ?? null, after?.id ?? null, pageSize + 1],
    );
    const page = rows.slice(0, pageSize);
    const last = rows.length > pageSize ? page.at(-1) : undefined;
    const actors = await this.actorsOf(page);
    return {
      portal_sessions: page.map((row, n) => portalSessionJson({ ...row, actor: actors[n] ?? null }, at)),
      next_cursor: last ? encodeCursor({ createdAt: last.created_at, id: last.session_id }) : null,
    };
  }

  private async actorsOf(rows: readonly Row[]): Promise<readonly (PortalActor | null)[]> {
    const events = rows.map(({ session_id, actor }) => ({
      stream: `portal_session-${session_id}`,
      type: CREATED,
      data: { session_id, actor },
    }));
    const opened = await this.codec.open(events);
    return opened.map(({ data }) => data.actor as unknown as PortalActor | null);
  }
}
