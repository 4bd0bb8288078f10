import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/postgres/database.js';

/** A verification as far as its provider was told of it. */
export interface Verification {
  readonly verification_id: string;
  readonly user_id: string;
  /** What the provider calls the person; null until it was told. */
  readonly applicant: string | null;
  /** What the provider calls the check; null until it was opened, or while that is not known. */
  readonly check_reference: string | null;
  readonly opened_at: Date;
}

const COLUMNS = 'verification_id, user_id, applicant, check_reference, opened_at';
type Row = Verification & Record<string, unknown>;

/** What providers call verifications, so that a repeat after a crash finds what was begun. */
@Injectable()
export class Verifications {
  constructor(private readonly database: Database) {}

  /** Before the provider hears of it; a repeat gives what is there. */
  async open(verificationId: string, provider: string, userId: string): Promise<Verification> {
    const [opened] = await this.database.query<Row>(
      `insert into onboarding.verifications (verification_id, provider, user_id) values ($1, $2, $3)
       on conflict (verification_id, provider) do update set user_id = excluded.user_id returning ${COLUMNS}`,
      [verificationId, provider, userId],
    );
    return opened!;
  }

  /** What the provider calls the person: the first that was kept, which it gives; null once the person is forgotten. */
  async keepApplicant(verificationId: string, provider: string, applicant: string): Promise<string | null> {
    const [kept] = await this.database.query<{ applicant: string }>(
      `update onboarding.verifications set applicant = coalesce(applicant, $3)
       where verification_id = $1 and provider = $2 returning applicant`,
      [verificationId, provider, applicant],
    );
    return kept?.applicant ?? null;
  }

  /** Whether this process may open the check: no other has been about to for so long. */
  async claimCheck(verificationId: string, provider: string, seconds: number): Promise<boolean> {
    const claimed = await this.database.query(
      `update onboarding.verifications set check_claimed_until = now() + make_interval(secs => $3)
       where verification_id = $1 and provider = $2
         and (check_claimed_until is null or check_claimed_until <= now()) returning 1`,
      [verificationId, provider, seconds],
    );
    return claimed.length > 0;
  }

  /** Lets go of the claim: nothing came of it. */
  async releaseCheck(verificationId: string, provider: string): Promise<void> {
    await this.database.query(
      'update onboarding.verifications set check_claimed_until = null where verification_id = $1 and provider = $2',
      [verificationId, provider],
    );
  }

  ofUser(userId: string, provider: string): Promise<Verification[]> {
    return this.database.query<Row>(
      `select ${COLUMNS} from onboarding.verifications where user_id = $1 and provider = $2`,
      [userId, provider],
    );
  }

  async forget(verificationId: string, provider: string): Promise<void> {
    await this.database.query(
      'delete from onboarding.verifications where verification_id = $1 and provider = $2',
      [verificationId, provider],
    );
  }

  /** What the provider calls the check, for its callbacks. */
  async checked(verificationId: string, provider: string, check: string): Promise<void> {
    await this.database.query(
      `update onboarding.verifications set check_reference = $3
       where verification_id = $1 and provider = $2 and check_reference is distinct from $3`,
      [verificationId, provider, check],
    );
  }

  async answered(verificationId: string, provider: string, answer: string): Promise<void> {
    await this.database.query(
      `update onboarding.verifications set last_answer = $3, answered_at = now()
       where verification_id = $1 and provider = $2`,
      [verificationId, provider, answer],
    );
  }
}
