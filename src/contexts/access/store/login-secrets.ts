import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/postgres/database.js';

/** What a login secret is good for: a one-time link, or a challenge of WebAuthn. */
export type LoginPurpose = 'link' | 'enrol' | 'passkey';

/** One-time secrets of logins under keyed hashes, in `access.login_secrets`. */
@Injectable()
export class LoginSecrets {
  constructor(private readonly database: Database) {}

  /** `operatorId` null: of no particular person. Drops those that have expired. */
  async insert(
    purpose: LoginPurpose,
    hash: string,
    operatorId: string | null,
    seconds: number,
  ): Promise<void> {
    await this.database.query(
      `with expired as (delete from access.login_secrets where expires_at < now())
       insert into access.login_secrets (hash, purpose, operator_id, expires_at)
       values ($1, $2, $3, now() + $4 * interval '1 s')`,
      [hash, purpose, operatorId, seconds],
    );
  }

  /** Whose it is; null for one that is unknown, used or expired. */
  async find(purpose: LoginPurpose, hash: string): Promise<{ readonly operatorId: string | null } | null> {
    return this.one(
      'select operator_id as "operatorId" from access.login_secrets where hash = $1 and purpose = $2 and expires_at > now()',
      hash,
      purpose,
    );
  }

  /** As {@link find}; afterwards it is used. Of two concurrent calls one gets null. */
  async take(purpose: LoginPurpose, hash: string): Promise<{ readonly operatorId: string | null } | null> {
    return this.one(
      `delete from access.login_secrets where hash = $1 and purpose = $2 and expires_at > now()
       returning operator_id as "operatorId"`,
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
    const [row] = await this.database.query<{ operatorId: string | null }>(sql, [hash, purpose]);
    return row ?? null;
  }
}
