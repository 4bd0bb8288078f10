import { Injectable } from '@nestjs/common';
import type { PoolClient } from 'pg';
import { Database } from '../../platform/database/database.js';

/** How far each subscription has come, in `event_store.checkpoints`, beside the rows that its events became. */
@Injectable()
export class Checkpoints {
  constructor(private readonly database: Database) {}

  /** Makes rows for names that have none: they start before the first event. */
  async ensure(names: readonly string[]): Promise<void> {
    await this.database.query(
      `insert into event_store.checkpoints (name, position, updated_at)
       select name, null, now() from unnest($1::text[]) as n(name) on conflict do nothing`,
      [names],
    );
  }

  async read(names: readonly string[]): Promise<ReadonlyMap<string, string | null>> {
    const rows = await this.database.query<{ name: string; position: string | null }>(
      'select name, position from event_store.checkpoints where name = any($1)',
      [names],
    );
    return new Map(rows.map(({ name, position }) => [name, position]));
  }

  /**
   * Does `work` and moves the checkpoint from `from` to `to`, both or neither. False, with nothing done, when another
   * process holds the checkpoint or has moved it.
   */
  async advance(
    name: string,
    from: string | null,
    to: string,
    work: (tx: PoolClient) => Promise<void>,
  ): Promise<boolean> {
    return this.database.transaction(async (tx) => {
      const moved = await tx.query({
        name: 'event_store.advance',
        text: `update event_store.checkpoints set position = $3, updated_at = now()
          where name = (
            select name from event_store.checkpoints
            where name = $1 and position is not distinct from $2 for update skip locked
          )`,
        values: [name, from, to],
      });
      if (moved.rowCount === 0) return false;
      await work(tx);
      return true;
    });
  }

  /** Moves the checkpoint when nothing had to be done. False when another process holds it or has moved it. */
  async move(name: string, from: string | null, to: string): Promise<boolean> {
    return this.advance(name, from, to, async () => undefined);
  }

  /** Holds the checkpoint, waiting for whoever has it, while `work` finds the position it shall have. */
  async replace(name: string, work: (tx: PoolClient) => Promise<string | null>): Promise<void> {
    await this.ensure([name]);
    await this.database.transaction(async (tx) => {
      await tx.query('select from event_store.checkpoints where name = $1 for update', [name]);
      const position = await work(tx);
      await tx.query('update event_store.checkpoints set position = $2, updated_at = now() where name = $1', [
        name,
        position,
      ]);
    });
  }
}
