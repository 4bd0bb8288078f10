import { Injectable } from '@nestjs/common';
import { currentOperation } from '../event-store/command-loop.js';
import { recordRowChange } from '../postgres/row-changes.js';
import { Database } from '../postgres/database.js';

/** The unknown event types that operators allow subscriptions to skip, in `event_store.passing_types`. */
@Injectable()
export class PassingTypes {
  constructor(private readonly database: Database) {}

  async all(): Promise<ReadonlySet<string>> {
    const rows = await this.database.query<{ type: string }>('select type from event_store.passing_types');
    return new Set(rows.map(({ type }) => type));
  }

  allow(type: string, reason: string): Promise<void> {
    return this.database.transaction(async (tx) => {
      await tx.query(
        `insert into event_store.passing_types (type, reason, allowed_at) values ($1, $2, now())
         on conflict (type) do update set reason = excluded.reason`,
        [type, reason],
      );
      await recordRowChange(tx, currentOperation()?.id, 'passing_type', type);
    });
  }
}
