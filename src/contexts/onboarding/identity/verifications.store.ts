import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/postgres/database.js';
import { SealError, Sealer } from '../../../platform/sealing/sealer.js';
import { dropWork, wakeWork } from '../../../platform/jobs/work-items.js';
import type { KycOutcome } from '../onboardings/decisions.js';

/** The tables whose rows are deleted when a person is erased. */
const TABLES = ['images', 'phone_codes', 'verifications'] as const;
const APPLICANT = 'applicant of a verification';

export interface Verification {
  readonly verification_id: string;
  readonly user_id: string;
  readonly applicant: string | null;
  readonly check_reference: string | null;
  readonly opened_at: Date;
}

const COLUMNS = 'verification_id, provider, user_id, applicant, applicant_mac, check_reference, opened_at';
interface Row extends Verification, Record<string, unknown> {
  readonly provider: string;
  readonly applicant_mac: string | null;
}

const OPEN_REVIEW = `select verification_id from onboarding.verifications where user_id = $1 and provider = 'sandbox'
  and check_reference is not null and passed is null order by opened_at desc limit 1`;

/** Stores the providers' ids of verifications, so that a retry after a crash finds them. */
@Injectable()
export class Verifications {
  constructor(
    private readonly database: Database,
    private readonly sealer: Sealer,
  ) {}

  /** Stores the row before the first call to the provider. Idempotent. */
  async open(verificationId: string, provider: string, userId: string): Promise<Verification> {
    const [opened] = await this.database.query<Row>(
      `insert into onboarding.verifications (verification_id, provider, user_id) values ($1, $2, $3)
       on conflict (verification_id, provider) do update set user_id = excluded.user_id returning ${COLUMNS}`,
      [verificationId, provider, userId],
    );
    return this.own(opened!);
  }

  /** Stores the id unless the row already has an id. Returns the stored id, or null for an erased person. */
  async keepApplicant(
    verificationId: string,
    provider: string,
    userId: string,
    applicant: string,
  ): Promise<string | null> {
    const mac = this.sealer.mac(APPLICANT, JSON.stringify([verificationId, provider, userId, applicant]));
    const [kept] = await this.database.query<Row>(
      `update onboarding.verifications set applicant = coalesce(applicant, $3),
         applicant_mac = case when applicant is null then $4 else applicant_mac end
       where verification_id = $1 and provider = $2 returning ${COLUMNS}`,
      [verificationId, provider, applicant, mac],
    );
    return kept === undefined ? null : this.own(kept).applicant;
  }

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

  /** Makes the poll of a check due now. Returns false for an unknown check. */
  async pollNow(provider: string, check: string | null): Promise<boolean> {
    const rows = await this.database.query<{ user_id: string }>(
      'select user_id from onboarding.verifications where provider = $1 and check_reference = $2',
      [provider, check],
    );
    const users = rows.map(({ user_id }) => user_id);
    await this.database.transaction((tx) => wakeWork(tx, 'onboarding.step', users));
    return rows.length > 0;
  }

  /** Opens a sandbox review, which passes after `passAfterSeconds` (if set). Returns null before it ends. */
  async reviewOutcome(
    verificationId: string,
    userId: string,
    passAfterSeconds: number | null,
  ): Promise<KycOutcome | null> {
    const [review] = await this.database.query<{
      passed: boolean | null;
      reason: string | null;
      age_seconds: number;
    }>(
      `insert into onboarding.verifications as review (verification_id, provider, user_id, check_reference)
       values ($1::uuid, 'sandbox', $2, $1::uuid::text)
       on conflict (verification_id, provider) do update set check_reference = excluded.check_reference
       returning passed, reason, extract(epoch from now() - opened_at)::float8 as age_seconds`,
      [verificationId, userId],
    );
    const { passed, reason, age_seconds } = review!;
    if (passed === null)
      return passAfterSeconds === null || age_seconds < passAfterSeconds ? null : { passed: true };
    return passed ? { passed } : { passed, reason: reason ?? '' };
  }

  async isUnderReview(userId: string): Promise<boolean> {
    return (await this.database.query(OPEN_REVIEW, [userId])).length > 0;
  }

  /** Decides the open review (a null `reason` passes) and polls now. Returns false if no review is open. */
  async decideReview(userId: string, reason: string | null): Promise<boolean> {
    const [decided] = await this.database.query<{ check_reference: string }>(
      `update onboarding.verifications set passed = $2, reason = $3 where provider = 'sandbox'
         and verification_id = (${OPEN_REVIEW}) and passed is null returning check_reference`,
      [userId, reason === null, reason],
    );
    return decided !== undefined && this.pollNow('sandbox', decided.check_reference);
  }

  /** Drops the pending step and the images, so that a late step sends nothing to a provider. */
  dropPending(userId: string): Promise<void> {
    return this.database.transaction(async (tx) => {
      await dropWork(tx, 'onboarding.step', [userId]);
      await tx.query('delete from onboarding.images where user_id = $1', [userId]);
    });
  }

  async dropAll(userId: string): Promise<void> {
    for (const table of TABLES)
      await this.database.query(`delete from onboarding.${table} where user_id = $1`, [userId]);
    // The row remains, so that no other card is requested for the erased person.
    await this.database.query(
      'update onboarding.stripe_cards set cardholder_id = null, card_id = null where user_id = $1',
      [userId],
    );
  }

  /** Returns the row. Throws SealError for a changed applicant, who could be another person. */
  private own(row: Row): Verification {
    const { verification_id, provider, user_id, applicant, applicant_mac } = row;
    if (applicant === null && applicant_mac === null) return row;
    const text = JSON.stringify([verification_id, provider, user_id, applicant]);
    if (applicant !== null && this.sealer.isAuthentic(APPLICANT, text, applicant_mac)) return row;
    throw new SealError(`the applicant of verification ${verification_id} was changed outside the service`);
  }
}
