import { Injectable } from '@nestjs/common';
import type { PoolClient } from 'pg';
import { Database } from '../../../platform/postgres/database.js';

/** What one context has still to drop of a person. */
export interface Erasure {
  readonly user_id: string;
  /** The context's name. */
  readonly part: string;
  readonly attempts: number;
}

/** What is left of an erasure, for operators. */
export interface LeftOver {
  readonly part: string;
  readonly attempts: number;
  /** Why the last attempt came to nothing; null when there was none, or when it only has to wait. */
  readonly cause: string | null;
}

/** `users.erasures`: what of erased persons is still to be dropped, one row per person and context. */
@Injectable()
export class Erasures {
  constructor(private readonly database: Database) {}

  /** Up to `limit` due ones of these contexts, nobody else's for `leaseSeconds`. */
  lease(parts: readonly string[], limit: number, leaseSeconds: number): Promise<Erasure[]> {
    return this.database.query<Erasure & Record<string, unknown>>(
      `update users.erasures set due_at = now() + make_interval(secs => $3), attempts = attempts + 1
       where (user_id, part) in (select user_id, part from users.erasures where due_at <= now() and part = any($1)
                                 order by due_at limit $2 for update skip locked)
       returning user_id, part, attempts`,
      [parts, limit, leaseSeconds],
    );
  }

  async done({ user_id, part }: Erasure): Promise<void> {
    await this.database.query('delete from users.erasures where user_id = $1 and part = $2', [user_id, part]);
  }

  async retryIn({ user_id, part }: Erasure, delayMs: number, cause: string | null): Promise<void> {
    await this.database.query(
      `update users.erasures set due_at = now() + make_interval(secs => $3), cause = $4
       where user_id = $1 and part = $2`,
      [user_id, part, delayMs / 1000, cause],
    );
  }

  leftOf(userId: string): Promise<LeftOver[]> {
    return this.database.query<LeftOver & Record<string, unknown>>(
      'select part, attempts, cause from users.erasures where user_id = $1 order by part',
      [userId],
    );
  }
}

export async function addErasures(
  tx: PoolClient,
  userIds: readonly string[],
  parts: readonly string[],
): Promise<void> {
  await tx.query(
    `insert into users.erasures (user_id, part)
     select * from unnest($1::uuid[]) user_id cross join unnest($2::text[]) part on conflict do nothing`,
    [userIds, parts],
  );
}
