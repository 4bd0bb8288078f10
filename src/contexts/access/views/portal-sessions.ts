import { Injectable } from '@nestjs/common';
import { EventCodec } from '../../../platform/event-store/event-codec.js';
import { Database } from '../../../platform/postgres/database.js';
import { listPage, type KeysetPage } from '../../../platform/postgres/list-page.js';
import type { PortalActor } from '../domain/portal-session.js';

/** A session as merchants get it (admin-api.md 6). */
interface PortalSessionRow {
  readonly id: string;
  /** The sealed actor of the event. */
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
    const sealed = rows.map(({ id, actor }) => ({
      stream: `portal_session-${id}`,
      type: 'portal_session.created.v1',
      data: { session_id: id, actor },
    }));
    const opened = await this.codec.open(sealed);
    const portal_sessions = rows.map((row, n) => ({
      ...row,
      actor: opened[n]!.data.actor as unknown as PortalActor | null,
    }));
    return { portal_sessions, next_cursor };
  }
}
