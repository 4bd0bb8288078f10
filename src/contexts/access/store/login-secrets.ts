import { Injectable } from '@nestjs/common';
import { databaseNow } from '../../../platform/postgres/clock-check.js';
import { Database } from '../../../platform/postgres/database.js';
import { Sealer } from '../../../platform/sealing/sealer.js';

/** What a login secret is good for: a one-time link, or a challenge of WebAuthn. */
export type LoginPurpose = 'link' | 'enrol' | 'passkey';

interface SecretRow {
  readonly operator_id: string | null;
  readonly expires_at: Date;
  readonly mac: string | null;
}

/** Purpose of MACs. */
const SECRET = 'login secret';

/** One-time secrets of logins under keyed hashes, in `access.login_secrets`. */
@Injectable()
export class LoginSecrets {
  constructor(
    private readonly database: Database,
    private readonly sealer: Sealer,
  ) {}

  /** `operatorId` null: of no particular person. Drops those that have expired. */
  async insert(
    purpose: LoginPurpose,
    hash: string,
    operatorId: string | null,
    seconds: number,
  ): Promise<void> {
    const expires_at = new Date((await databaseNow(this.database)).getTime() + seconds * 1000);
    const mac = this.sealer.mac(SECRET, textOf(hash, purpose, { operator_id: operatorId, expires_at }));
    await this.database.query(
      `with expired as (delete from access.login_secrets where expires_at < now())
       insert into access.login_secrets (hash, purpose, operator_id, expires_at, mac)
       values ($1, $2, $3, $4, $5)`,
      [hash, purpose, operatorId, expires_at, mac],
    );
  }

  /** Returns the person of the secret, or null: unknown, used, expired, or changed outside the service. */
  async find(purpose: LoginPurpose, hash: string): Promise<{ readonly operatorId: string | null } | null> {
    return this.one(
      `select operator_id, expires_at, mac from access.login_secrets
       where hash = $1 and purpose = $2 and expires_at > now()`,
      hash,
      purpose,
    );
  }

  /** As {@link find}; afterwards it is used. Of two concurrent calls one gets null. */
  async take(purpose: LoginPurpose, hash: string): Promise<{ readonly operatorId: string | null } | null> {
    return this.one(
      `delete from access.login_secrets where hash = $1 and purpose = $2 and expires_at > now()
       returning operator_id, expires_at, mac`,
      hash,
      purpose,
    );
  }

  /** The links of a person that were not used: a later one replaces them. */
  async dropLinks(operatorId: string): Promise<void> {
    await this.database.query(
      `delete from access.login_secrets where operator_id = $1 and purpose = 'link'`,
      [operatorId],
    );
  }

  private async one(sql: string, hash: string, purpose: LoginPurpose) {
    const [row] = await this.database.query<SecretRow>(sql, [hash, purpose]);
    const isAuthentic = row && this.sealer.isAuthentic(SECRET, textOf(hash, purpose, row), row.mac);
    return isAuthentic ? { operatorId: row.operator_id } : null;
  }
}

function textOf(
  hash: string,
  purpose: LoginPurpose,
  { operator_id, expires_at }: Omit<SecretRow, 'mac'>,
): string {
  return JSON.stringify([hash, purpose, operator_id, expires_at]);
}
