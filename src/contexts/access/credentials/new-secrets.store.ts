import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/postgres/database.js';
import { SECRET_DISPLAYED_MS } from './credentials.js';
import { Periodic } from '../../../platform/jobs/background-work.js';
import { SealError, Sealer } from '../../../platform/sealing/sealer.js';

/** The sealed secrets of new credentials, kept for a day, so that a retry after a crash issues the same secret. */
@Injectable()
export class NewSecrets {
  constructor(
    private readonly database: Database,
    private readonly sealer: Sealer,
  ) {}

  /** Returns the same secret to all calls with one id for a day; null if it is unreadable. */
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
       where secret_id = $1 and created_at > now() - interval '${SECRET_DISPLAYED_MS} ms'`,
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
      `delete from access.new_secrets where created_at <= now() - interval '${SECRET_DISPLAYED_MS} ms'`,
    );
  }
}

function toAssociatedData(id: string): string {
  return `new secret/${id}`;
}
