import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/postgres/database.js';
import type { KycOutcome } from '../domain/decisions.js';

interface ReviewRow extends Record<string, unknown> {
  readonly passed: boolean | null;
  readonly reason: string | null;
  readonly age_seconds: number;
}

/** Identities that the sandbox keeps under review until an operator decides: in the database, for all processes. */
@Injectable()
export class SandboxReviews {
  constructor(private readonly database: Database) {}

  /** Opens the review when it is new. Null while nobody has decided, and `passAfterSeconds` have not gone by. */
  async outcome(
    verificationId: string,
    userId: string,
    passAfterSeconds: number | null,
  ): Promise<KycOutcome | null> {
    const [review] = await this.database.query<ReviewRow>(
      `insert into onboarding.sandbox_reviews as review (verification_id, user_id) values ($1, $2)
       on conflict (verification_id) do update set user_id = excluded.user_id
       returning passed, reason, extract(epoch from now() - opened_at)::float8 as age_seconds`,
      [verificationId, userId],
    );
    const { passed, reason, age_seconds } = review!;
    if (passed === null) return passAfterSeconds === null || age_seconds < passAfterSeconds ? null : PASSED;
    return passed ? PASSED : { passed, reason: reason ?? '' };
  }

  /** Decides the open review of the user, whose verification it gives; null when none is open. */
  async decide(userId: string, outcome: KycOutcome): Promise<string | null> {
    const [decided] = await this.database.query<{ verification_id: string }>(
      `update onboarding.sandbox_reviews set passed = $2, reason = $3
       where verification_id = (select verification_id from onboarding.sandbox_reviews
                                where user_id = $1 and passed is null order by opened_at desc limit 1)
         and passed is null
       returning verification_id`,
      [userId, outcome.passed, outcome.passed ? null : outcome.reason],
    );
    return decided?.verification_id ?? null;
  }
}

const PASSED: KycOutcome = { passed: true };
