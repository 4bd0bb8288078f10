import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/postgres/database.js';
import { SECRET_DISPLAYED_MS } from './credentials.js';
import { Periodic } from '../../../platform/jobs/background-work.js';
import { SealError, Sealer } from '../../../platform/sealing/sealer.js';

/** The retention of rows: longer than a request may be repeated, so that no id gets a second secret. */
const SECRETS_KEPT_DAYS = 40;

/** The sealed secrets of new credentials, kept for a day so that a retry issues the same secret. */
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
