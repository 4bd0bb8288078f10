import { Injectable } from '@nestjs/common';
import type { PoolClient } from 'pg';
import { Database } from '../../../platform/postgres/database.js';

/** An onboarding that waits for the service to go on. */
export interface Step {
  readonly user_id: string;
  /** Counts the requests for work: a row that was asked for again meanwhile stays. */
  readonly asked: string;
  readonly attempts: number;
}

/** The table of onboardings to go on with, shared by all processes. */
@Injectable()
export class Steps {
  constructor(private readonly database: Database) {}

  /** Up to `limit` due steps, nobody else's for `leaseSeconds`. */
  lease(limit: number, leaseSeconds: number): Promise<Step[]> {
    return this.database.query<Step & Record<string, unknown>>(
      `update onboarding.steps set due_at = now() + make_interval(secs => $2), attempts = attempts + 1
       where user_id in (select user_id from onboarding.steps where due_at <= now()
                         order by due_at limit $1 for update skip locked)
       returning user_id, asked, attempts`,
      [limit, leaseSeconds],
    );
  }

  async done({ user_id, asked }: Step): Promise<void> {
    await this.database.query('delete from onboarding.steps where user_id = $1 and asked = $2', [
      user_id,
      asked,
    ]);
  }

  async retryIn({ user_id, asked }: Step, delayMs: number): Promise<void> {
    await this.database.query(
      `update onboarding.steps set due_at = now() + make_interval(secs => $3) where user_id = $1 and asked = $2`,
      [user_id, asked, delayMs / 1000],
    );
  }
}

export async function askForSteps(tx: PoolClient, userIds: Iterable<string>): Promise<void> {
  await tx.query(
    `insert into onboarding.steps (user_id, due_at) select user_id, now() from unnest($1::uuid[]) as user_id
     on conflict (user_id) do update set asked = steps.asked + 1, due_at = now(), attempts = 0`,
    [[...userIds].sort()],
  );
}
