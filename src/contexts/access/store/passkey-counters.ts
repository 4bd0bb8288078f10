import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/postgres/database.js';

/** Signature counters of passkeys, in `access.passkey_counters`: no event, because each login moves one. */
@Injectable()
export class PasskeyCounters {
  constructor(private readonly database: Database) {}

  /** 0 for a passkey that was never used. */
  async read(passkeyId: string): Promise<number> {
    const [row] = await this.database.query<{ counter: string }>(
      'select counter from access.passkey_counters where passkey_id = $1',
      [passkeyId],
    );
    return Number(row?.counter ?? 0);
  }

  /** False, and nothing is written, where another login has moved it as far: of a clone, one is refused. */
  async advance(passkeyId: string, counter: number): Promise<boolean> {
    const rows = await this.database.query(
      `insert into access.passkey_counters as kept (passkey_id, counter, used_at) values ($1, $2, now())
       on conflict (passkey_id) do update set counter = excluded.counter, used_at = excluded.used_at
         where excluded.counter > kept.counter or (excluded.counter = 0 and kept.counter = 0)
       returning 1 as moved`,
      [passkeyId, counter],
    );
    return rows.length === 1;
  }
}
