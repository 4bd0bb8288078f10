import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { upTo } from '../../../platform/cache-size.js';
import { Database } from '../../../platform/postgres/database.js';

const EVERY_MS = 60_000;
const MAX_CREDENTIALS = 10_000;

/** When the credentials of operators were last used, to the minute. */
@Injectable()
export class CredentialUses {
  private readonly written = new LRUCache<string, true>({ ...upTo(MAX_CREDENTIALS), ttl: EVERY_MS });

  constructor(private readonly database: Database) {}

  /** Never while a request waits: a use that cannot be written is left out. */
  record(credentialId: string): void {
    if (this.written.has(credentialId)) return;
    this.written.set(credentialId, true);
    this.database
      .query(
        `insert into access.credential_uses (credential_id, last_used_at) values ($1, now())
         on conflict (credential_id) do update set last_used_at = excluded.last_used_at`,
        [credentialId],
      )
      .catch(() => this.written.delete(credentialId));
  }
}

/** Without a request for so long a session of the portal ends. */
const IDLE_SECONDS = 3600;
/** The row is written at most this often. */
const SEEN_EVERY_SECONDS = 60;
const KEPT_DAYS = 90;

/** When sessions of the portal were last used, in `access.portal_session_uses`, by the clock of the database. */
@Injectable()
export class PortalUses {
  constructor(private readonly database: Database) {}

  /** The first use. Forgets sessions of long ago. */
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

  /** False for a session that was idle for too long. `uses`: the request counts as activity of the person. */
  async find(sessionId: string, uses: boolean): Promise<boolean> {
    const [row] = await this.database.query<{ is_stale: boolean }>(
      `select last_seen_at < now() - ${SEEN_EVERY_SECONDS} * interval '1 s' as is_stale
       from access.portal_session_uses
       where session_id = $1 and last_seen_at > now() - ${IDLE_SECONDS} * interval '1 s'`,
      [sessionId],
    );
    if (uses && row?.is_stale) {
      const sql = 'update access.portal_session_uses set last_seen_at = now() where session_id = $1';
      await this.database.query(sql, [sessionId]);
    }
    return row !== undefined;
  }
}
