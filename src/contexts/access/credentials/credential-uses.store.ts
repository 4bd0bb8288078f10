import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { upTo } from '../../../platform/cache-size.js';
import { Database } from '../../../platform/postgres/database.js';
import { SECRET_DISPLAYED_MS } from './credentials.js';
import { Periodic } from '../../../platform/jobs/background-work.js';
import { SealError, Sealer } from '../../../platform/sealing/sealer.js';

const EVERY_MS = 60_000;
const MAX_CREDENTIALS = 10_000;

/** The last uses of operators' credentials, exact to a minute. */
@Injectable()
export class CredentialUses {
  private readonly written = new LRUCache<string, true>({ ...upTo(MAX_CREDENTIALS), ttl: EVERY_MS });

  constructor(private readonly database: Database) {}

  /** Writes in the background; a use that cannot be written is left out. */
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

/** The idle time after which a session of the portal ends. */
const IDLE_SECONDS = 3600;
/** The minimum time between two writes of a session's row. */
const SEEN_EVERY_SECONDS = 60;
const KEPT_DAYS = 90;

/** The last uses of portal sessions, by the clock of the database. */
@Injectable()
export class PortalUses {
  constructor(private readonly database: Database) {}

  /** Records the first use, and drops the rows of old sessions. */
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

  /** Returns false for a session that was idle for too long. `uses`: the request counts as activity of the person. */
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

/** Longer than requests may be repeated, so that no id gets a second secret. */
const SECRETS_KEPT_DAYS = 40;

/** The sealed secrets of new credentials, kept for a day, so that a retry after a crash issues the same secret. */
@Injectable()
export class NewSecrets {
  constructor(
    private readonly database: Database,
    private readonly sealer: Sealer,
  ) {}

  /** Returns the same secret to concurrent calls with one id; null a day after its generation. */
  async obtain(id: string, generate: () => string): Promise<string | null> {
    await this.database.query(
      'insert into access.new_secrets (secret_id, sealed, created_at) values ($1, $2, now()) on conflict do nothing',
      [id, this.sealer.seal(generate(), toAssociatedData(id))],
    );
    return this.find(id);
  }

  /** Returns null for an unknown id, and a day after the generation. */
  async find(id: string): Promise<string | null> {
    const [row] = await this.database.query<{ sealed: string }>(
      `select sealed from access.new_secrets
       where secret_id = $1 and sealed is not null and created_at > now() - interval '${SECRET_DISPLAYED_MS} ms'`,
      [id],
    );
    if (row === undefined) return null;
    try {
      return this.sealer.open(row.sealed, toAssociatedData(id));
    } catch (error) {
      // The master key of the secret was retired.
      if (error instanceof SealError) return null;
      throw error;
    }
  }

  @Periodic({ name: 'retention of new secrets', everyMs: 600_000 })
  async forget(): Promise<void> {
    await this.database.query(
      `update access.new_secrets set sealed = null
       where sealed is not null and created_at <= now() - interval '${SECRET_DISPLAYED_MS} ms'`,
    );
    await this.database.query(
      `delete from access.new_secrets where created_at < now() - interval '${SECRETS_KEPT_DAYS} days'`,
    );
  }
}

function toAssociatedData(id: string): string {
  return `new secret/${id}`;
}
