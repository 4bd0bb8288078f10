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
  type PortalSessionStatus,
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

interface Row {
  readonly [column: string]: unknown;
  readonly session_id: string;
  /** As it is in the event, sealed. */
  readonly actor: string | null;
  readonly scopes: readonly string[];
  readonly return_url: string | null;
  readonly created_at: Date;
  readonly code_expires_at: Date;
  readonly session_expires_at: Date | null;
  readonly revoked_at: Date | null;
  readonly last_seen_at: Date | null;
}

interface PortalSessionJson {
  readonly id: string;
  readonly actor: PortalActor | null;
  readonly scopes: readonly string[];
  readonly return_url: string | null;
  readonly status: PortalSessionStatus;
  readonly created_at: string;
  readonly code_expires_at: string;
  readonly session_expires_at: string | null;
  readonly last_seen_at: string | null;
}

type Displayed = Omit<PortalSession, 'codeHash' | 'merchantId' | 'enteredAt' | 'tokenHash'> & {
  readonly lastSeenAt: string | null;
};

/** As merchants get it, at this time (admin-api.md 6). */
export function portalSessionJson(session: Displayed, at: string): PortalSessionJson {
  return {
    id: session.id,
    actor: session.actor,
    scopes: session.scopes,
    return_url: session.returnUrl,
    status: portalSessionStatus(session, at),
    created_at: session.createdAt,
    code_expires_at: session.codeExpiresAt,
    session_expires_at: session.expiresAt,
    last_seen_at: session.lastSeenAt,
  };
}

@Injectable()
export class PortalSessionsView {
  constructor(
    private readonly database: Database,
    private readonly codec: EventCodec,
  ) {}

  /** A page of the merchant's sessions, newest first. `at`: ISO 8601. */
  async page(
    merchantId: string,
    { pageSize, after }: KeysetPage,
    at: string,
  ): Promise<{
    readonly portal_sessions: readonly PortalSessionJson[];
    readonly next_cursor: string | null;
  }> {
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
      portal_sessions: page.map((row, n) => portalSessionJson(displayed(row, actors[n] ?? null), at)),
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

function displayed(row: Row, actor: PortalActor | null): Displayed {
  return {
    id: row.session_id,
    actor,
    scopes: row.scopes,
    returnUrl: row.return_url,
    createdAt: row.created_at.toISOString(),
    codeExpiresAt: row.code_expires_at.toISOString(),
    expiresAt: row.session_expires_at?.toISOString() ?? null,
    revokedAt: row.revoked_at?.toISOString() ?? null,
    lastSeenAt: row.last_seen_at?.toISOString() ?? null,
  };
}
