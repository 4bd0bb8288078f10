import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/postgres/database.js';
import { SealError, Sealer } from '../../../platform/sealing/sealer.js';
import { dropWork, wakeWork } from '../../../platform/jobs/work-items.js';
import type { KycOutcome } from '../domain/decisions.js';

/** Tables with rows of a person. What is in events is sealed with the key of the person. */
const TABLES = ['images', 'phone_codes', 'sandbox_reviews', 'verifications'] as const;
/** Purpose of MACs. */
const APPLICANT = 'applicant of a verification';

export interface Verification {
  readonly verification_id: string;
  readonly user_id: string;
  /** The provider's id of the person. */
  readonly applicant: string | null;
  /** The provider's id of the check. */
  readonly check_reference: string | null;
  readonly opened_at: Date;
}

const COLUMNS = 'verification_id, provider, user_id, applicant, applicant_mac, check_reference, opened_at';
interface Row extends Verification, Record<string, unknown> {
  readonly provider: string;
  readonly applicant_mac: string | null;
}

interface ReviewRow extends Record<string, unknown> {
  readonly passed: boolean | null;
  readonly reason: string | null;
  readonly age_seconds: number;
}

/**
 * Ids of verifications at providers, so that a retry after a crash finds them. The applicant has a MAC: a changed row would
 * expose or delete another person at the provider, and throws {@link SealError}.
 */
@Injectable()
export class Verifications {
  constructor(
    private readonly database: Database,
    private readonly sealer: Sealer,
  ) {}

  /** Opens the row before the first call of the provider. A repeat returns it. */
  async open(verificationId: string, provider: string, userId: string): Promise<Verification> {
    const [opened] = await this.database.query<Row>(
      `insert into onboarding.verifications (verification_id, provider, user_id) values ($1, $2, $3)
       on conflict (verification_id, provider) do update set user_id = excluded.user_id returning ${COLUMNS}`,
      [verificationId, provider, userId],
    );
    return this.own(opened!);
  }

  /** Returns the first id that was stored; null once the person is erased. */
  async keepApplicant(
    verificationId: string,
    provider: string,
    userId: string,
    applicant: string,
  ): Promise<string | null> {
    const mac = this.sealer.mac(APPLICANT, toText(verificationId, provider, userId, applicant));
    const [kept] = await this.database.query<Row>(
      `update onboarding.verifications set applicant = coalesce(applicant, $3),
         applicant_mac = case when applicant is null then $4 else applicant_mac end
       where verification_id = $1 and provider = $2 returning ${COLUMNS}`,
      [verificationId, provider, applicant, mac],
    );
    return kept === undefined ? null : this.own(kept).applicant;
  }

  /** Claims the check for this process alone, for `seconds`. */
  async claimCheck(verificationId: string, provider: string, seconds: number): Promise<boolean> {
    const claimed = await this.database.query(
      `update onboarding.verifications set check_claimed_until = now() + make_interval(secs => $3)
       where verification_id = $1 and provider = $2
         and (check_claimed_until is null or check_claimed_until <= now()) returning 1`,
      [verificationId, provider, seconds],
    );
    return claimed.length > 0;
  }

  async releaseCheck(verificationId: string, provider: string): Promise<void> {
    await this.database.query(
      'update onboarding.verifications set check_claimed_until = null where verification_id = $1 and provider = $2',
      [verificationId, provider],
    );
  }

  async ofUser(userId: string, provider: string): Promise<readonly Verification[]> {
    const rows = await this.database.query<Row>(
      `select ${COLUMNS} from onboarding.verifications where user_id = $1 and provider = $2`,
      [userId, provider],
    );
    return rows.map((row) => this.own(row));
  }

  async forget(verificationId: string, provider: string): Promise<void> {
    await this.database.query(
      'delete from onboarding.verifications where verification_id = $1 and provider = $2',
      [verificationId, provider],
    );
  }

  async checked(verificationId: string, provider: string, check: string): Promise<void> {
    await this.database.query(
      `update onboarding.verifications set check_reference = $3
       where verification_id = $1 and provider = $2 and check_reference is distinct from $3`,
      [verificationId, provider, check],
    );
  }

  /** Polls the verification of a check now. False for a check that is unknown. */
  async pollNow(provider: string, check: string | null): Promise<boolean> {
    const rows = await this.database.query<{ user_id: string }>(
      'select user_id from onboarding.verifications where provider = $1 and check_reference = $2',
      [provider, check],
    );
    await this.database.transaction((tx) =>
      wakeWork(
        tx,
        'onboarding.step',
        rows.map(({ user_id }) => user_id),
      ),
    );
    return rows.length > 0;
  }

  /** Opens a review of the sandbox. Null until an operator decides or `passAfterSeconds` have passed. */
  async reviewOutcome(
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
    if (passed === null)
      return passAfterSeconds === null || age_seconds < passAfterSeconds ? null : { passed: true };
    return passed ? { passed } : { passed, reason: reason ?? '' };
  }

  async isUnderReview(userId: string): Promise<boolean> {
    const open = await this.database.query(
      'select 1 from onboarding.sandbox_reviews where user_id = $1 and passed is null limit 1',
      [userId],
    );
    return open.length > 0;
  }

  /** Returns the verification of the open review of the user; null when none is open. */
  async decideReview(userId: string, outcome: KycOutcome): Promise<string | null> {
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

  /** A step that is performed late finds nothing to send to a provider. */
  dropPending(userId: string): Promise<void> {
    return this.database.transaction(async (tx) => {
      await dropWork(tx, 'onboarding.step', [userId]);
      await tx.query('delete from onboarding.images where user_id = $1', [userId]);
    });
  }

  /** Drops all rows of a person, with the provider's ids of the person. */
  async dropAll(userId: string): Promise<void> {
    for (const table of TABLES)
      await this.database.query(`delete from onboarding.${table} where user_id = $1`, [userId]);
    // The row itself stays: no card is requested for the person any more.
    await this.database.query(
      'update onboarding.stripe_cards set cardholder_id = null, card_id = null where user_id = $1',
      [userId],
    );
  }

  private own(row: Row): Verification {
    const { verification_id, provider, user_id, applicant, applicant_mac } = row;
    if (applicant === null && applicant_mac === null) return row;
    if (
      applicant !== null &&
      this.sealer.isAuthentic(APPLICANT, toText(verification_id, provider, user_id, applicant), applicant_mac)
    )
      return row;
    throw new SealError(`the applicant of verification ${verification_id} was changed outside the service`);
  }
}

function toText(...parts: readonly [id: string, provider: string, user: string, applicant: string]): string {
  return JSON.stringify(parts);
}
