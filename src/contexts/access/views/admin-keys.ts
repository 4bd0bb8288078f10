import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/postgres/database.js';
import type { Role } from '../domain/roles.js';

/** An admin key with its person, as both are now. */
interface AdminKeyRow {
  readonly credentialId: string;
  readonly operatorId: string;
  readonly operatorName: string;
  readonly operatorStatus: 'active' | 'disabled';
  readonly role: Role;
  readonly scopes: readonly string[];
  /** Null: all. */
  readonly merchants: readonly string[] | null;
  readonly cidrs: readonly string[];
  readonly isPending: boolean;
  readonly expiresAt: Date | null;
  readonly rollingUntil: Date | null;
  readonly revokedAt: Date | null;
}

/** Whose is an admin key, and what may it do? */
@Injectable()
export class AdminKeysView {
  constructor(private readonly database: Database) {}

  async find(secretHash: string): Promise<AdminKeyRow | null> {
    const rows = await this.database.query<AdminKeyRow>(
      `select c.credential_id as "credentialId", o.operator_id as "operatorId", o.name as "operatorName",
              o.status as "operatorStatus", o.role, c.scopes, c.merchants, c.cidrs,
              s.is_pending as "isPending", s.expires_at as "expiresAt", s.rolling_until as "rollingUntil",
              s.revoked_at as "revokedAt"
       from access.secrets s join access.credentials c using (credential_id) join access.operators o using (operator_id)
       where s.secret_hash = $1 and c.kind = 'admin_key'`,
      [secretHash],
    );
    return rows[0] ?? null;
  }
}
