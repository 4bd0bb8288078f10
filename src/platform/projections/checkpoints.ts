import { Injectable } from '@nestjs/common';
import pg, { type PoolClient } from 'pg';
import { Database } from '../postgres/database.js';

const { escapeLiteral } = pg;

/** The checkpoints: the position that each subscription has applied, in the database of its rows. */
@Injectable()
export class Checkpoints {
  constructor(private readonly database: Database) {}

  /** Inserts missing checkpoints with position null, which is before the first event. */
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

  /** Runs `work` and moves the checkpoint. Returns false if another process has locked or moved it. */
  async advance(
    name: string,
    from: string | null,
    to: string,
    work: (tx: PoolClient) => Promise<void> = async () => undefined,
  ): Promise<boolean> {
    // This is one round trip without a wait for the disk. A crash of PostgreSQL may lose rows and checkpoint
    // together. The events are then applied again.
    const before = from === null ? 'null' : escapeLiteral(from);
    const begin = `begin; set local synchronous_commit = off;
      update event_store.checkpoints set position = ${escapeLiteral(to)}, updated_at = now()
      where name = ${escapeLiteral(name)} and position is not distinct from ${before}
        and pg_try_advisory_xact_lock(hashtextextended(name, 0))`;
    return this.database.transaction(
      async (tx, began) => {
        if (began.at(-1)?.rowCount === 0) return false;
        await work(tx);
        return true;
      },
      { begin },
    );
  }

  /** Reads the checkpoint. `for update` waits for the lock of the row and holds it until `tx` ends. */
  async of(name: string, tx: PoolClient, lock: '' | 'for update' = ''): Promise<string | null> {
    const { rows } = await tx.query<{ position: string | null }>(
      `select position from event_store.checkpoints where name = $1 ${lock}`,
      [name],
    );
    return rows[0]?.position ?? null;
  }

  async set(name: string, position: string | null, tx: Pick<PoolClient, 'query'>): Promise<void> {
    await tx.query(
      `insert into event_store.checkpoints (name, position, updated_at) values ($1, $2, now())
       on conflict (name) do update set position = excluded.position, updated_at = excluded.updated_at`,
      [name, position],
    );
  }
}
