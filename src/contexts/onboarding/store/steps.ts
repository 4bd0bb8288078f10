import { Injectable } from '@nestjs/common';
import type { PoolClient } from 'pg';
import { Database } from '../../../platform/postgres/database.js';

/** An onboarding that waits for the service to go on. */
export interface Step {
  readonly user_id: string;
  /** Counts the requests for work: a row that was asked for again meanwhile stays. */
  readonly asked: string;
  /** How often the verification was found under review since the last request. */
  readonly looks: number;
  /** Attempts that failed one after the other, and for how long they have: 0 before the first. */
  readonly failures: number;
  readonly failing_seconds: number;
  /** Of the attempt before this one, when it failed. */
  readonly last_error: string | null;
}

/** The table of onboardings to go on with, shared by all processes. */
@Injectable()
export class Steps {
  constructor(private readonly database: Database) {}

  /** Up to `limit` due steps, nobody else's for `leaseSeconds`. */
  lease(limit: number, leaseSeconds: number): Promise<Step[]> {
    return this.database.query<Step & Record<string, unknown>>(
      `update onboarding.steps set due_at = now() + make_interval(secs => $2)
       where user_id in (select user_id from onboarding.steps where due_at <= now()
                         order by due_at limit $1 for update skip locked)
       returning user_id, asked, looks, failures, last_error,
         coalesce(extract(epoch from now() - failing_since), 0)::float8 as failing_seconds`,
      [limit, leaseSeconds],
    );
  }

  async done({ user_id, asked }: Step): Promise<void> {
    await this.database.query('delete from onboarding.steps where user_id = $1 and asked = $2', [
      user_id,
      asked,
    ]);
  }

  /** The provider has not decided: no failure. */
  async lookIn({ user_id, asked }: Step, delayMs: number): Promise<void> {
    await this.database.query(
      `update onboarding.steps set due_at = now() + make_interval(secs => $3), looks = looks + 1,
         failures = 0, failing_since = null, last_error = null
       where user_id = $1 and asked = $2`,
      [user_id, asked, delayMs / 1000],
    );
  }

  /** The attempt failed, with an error in plain words. */
  async retryIn({ user_id, asked }: Step, delayMs: number, error: string): Promise<void> {
    await this.database.query(
      `update onboarding.steps set due_at = now() + make_interval(secs => $3), failures = failures + 1,
         failing_since = coalesce(failing_since, now()), last_error = $4
       where user_id = $1 and asked = $2`,
      [user_id, asked, delayMs / 1000, error],
    );
  }

  /** Has an operator's request taken up at once, also where nothing was left to be done. */
  async ask(userId: string): Promise<void> {
    await this.database.transaction((tx) => askForSteps(tx, [userId]));
  }
}

/** From now on, with nothing that went wrong before. */
export async function askForSteps(tx: PoolClient, userIds: Iterable<string>): Promise<void> {
  await tx.query(
    `insert into onboarding.steps (user_id, due_at) select user_id, now() from unnest($1::uuid[]) as user_id
     on conflict (user_id) do update set asked = steps.asked + 1, due_at = now(),
       looks = 0, failures = 0, failing_since = null, last_error = null`,
    [[...userIds].sort()],
  );
}

export async function dropSteps(tx: PoolClient, userIds: readonly string[]): Promise<void> {
  await tx.query('delete from onboarding.steps where user_id = any($1::uuid[])', [userIds]);
}
