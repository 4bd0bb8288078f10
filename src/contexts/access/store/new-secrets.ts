import { SECRET_DISPLAYED_MS } from '../domain/credentials.js';
import { Injectable } from '@nestjs/common';
import { Periodic } from '../../../platform/jobs/background-work.js';
import { Database } from '../../../platform/postgres/database.js';
import { SealError, Sealer } from '../../../platform/sealing/sealer.js';

/** Longer than a request may be repeated: no second secret is generated for one id. */
const KEPT_DAYS = 40;

/** Secrets of new credentials, sealed, in `access.new_secrets`: for a day, so that a retry after a crash issues the same one. */
@Injectable()
export class NewSecrets {
  constructor(
    private readonly database: Database,
    private readonly sealer: Sealer,
  ) {}

  /** Of concurrent calls with one id all get the same secret. Null: it was generated a day ago. */
  async obtain(id: string, generate: () => string): Promise<string | null> {
    await this.database.query(
      'insert into access.new_secrets (secret_id, sealed, created_at) values ($1, $2, now()) on conflict do nothing',
      [id, this.sealer.seal(generate(), associatedDataOf(id))],
    );
    return this.find(id);
  }

  /** Null for one that is unknown, or was generated a day ago. */
  async find(id: string): Promise<string | null> {
    const [row] = await this.database.query<{ sealed: string }>(
      `select sealed from access.new_secrets
       where secret_id = $1 and sealed is not null and created_at > now() - interval '${SECRET_DISPLAYED_MS} ms'`,
      [id],
    );
    if (row === undefined) return null;
    try {
      return this.sealer.open(row.sealed, associatedDataOf(id));
    } catch (error) {
      // Its master key was retired.
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
      `delete from access.new_secrets where created_at < now() - interval '${KEPT_DAYS} days'`,
    );
  }
}

function associatedDataOf(id: string): string {
  return `new secret/${id}`;
}
