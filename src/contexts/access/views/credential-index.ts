import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/postgres/database.js';
import type { CredentialKind } from '../domain/credential-kinds.js';

/** Sealed, of one kind, while they are not revoked. */
export const sealedSecrets = (kind: CredentialKind): string =>
  `select sealed_secret as sealed from access.credentials where kind = '${kind}' and revoked_at is null`;

/** One that is rolling counts if no other credential of its key remains. */
const NEXT_EXPIRIES = `select c.kind, min(least(c.expires_at, c.rolling_until)) as "expiresAt"
  from access.credentials c
  where least(c.expires_at, c.rolling_until) > now() - interval '1 day' and not c.is_pending and c.revoked_at is null
    and (c.rolling_until is null or not exists (select from access.credentials other
      where other.key_id = c.key_id and other.rolling_until is null and other.revoked_at is null
        and not other.is_pending and coalesce(other.expires_at > now(), true)))
  group by c.kind`;

/** Leads from what a caller names to the owner of a credential, whose events say everything else. Ids must be uuids. */
@Injectable()
export class CredentialIndex {
  constructor(private readonly database: Database) {}

  /** The merchant of an exchange key. */
  ownerOfKey(keyId: string): Promise<string | null> {
    return this.id(`select owner_id as id from access.credentials where key_id = $1 and kind = 'exchange'`, keyId);
  }

  ownerOfSecret(secretHash: string): Promise<string | null> {
    return this.id('select owner_id as id from access.credentials where secret_hash = $1', secretHash);
  }

  /** The exchange key of a credential; any other id counts as the key's. */
  async exchangeKeyOf(credentialId: string): Promise<string> {
    const sql = 'select key_id as id from access.credentials where credential_id = $1';
    return (await this.id(sql, credentialId)) ?? credentialId;
  }

  /** By kind, of those that were neither rolled nor revoked: the next that expires, or one that did within a day. */
  nextExpiries(): Promise<{ kind: CredentialKind; expiresAt: Date }[]> {
    return this.database.query(NEXT_EXPIRIES);
  }

  private async id(sql: string, value: string): Promise<string | null> {
    return (await this.database.query<{ id: string }>(sql, [value]))[0]?.id ?? null;
  }
}
