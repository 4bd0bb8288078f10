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
