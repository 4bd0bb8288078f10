import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/postgres/database.js';
import { SealError, Sealer } from '../../../platform/sealing/sealer.js';

/** Purpose of MACs. */
const APPLICANT = 'applicant of a verification';

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

const COLUMNS = 'verification_id, provider, user_id, applicant, applicant_mac, check_reference, opened_at';
interface Row extends Verification, Record<string, unknown> {
  readonly provider: string;
  readonly applicant_mac: string | null;
}

/**
 * What providers call verifications, so that a repeat after a crash finds what was begun. The applicant carries a MAC: a
 * changed row would have another person described, reviewed or deleted at the provider. Such a row is a {@link SealError}.
 */
@Injectable()
export class Verifications {
  constructor(
    private readonly database: Database,
    private readonly sealer: Sealer,
  ) {}

  /** Before the provider hears of it; a repeat gives what is there. */
  async open(verificationId: string, provider: string, userId: string): Promise<Verification> {
    const [opened] = await this.database.query<Row>(
      `insert into onboarding.verifications (verification_id, provider, user_id) values ($1, $2, $3)
       on conflict (verification_id, provider) do update set user_id = excluded.user_id returning ${COLUMNS}`,
      [verificationId, provider, userId],
    );
    return this.own(opened!);
  }

  /** What the provider calls the person: the first that was kept, which it gives; null once the person is forgotten. */
  async keepApplicant(
    verificationId: string,
    provider: string,
    userId: string,
    applicant: string,
  ): Promise<string | null> {
    const mac = this.sealer.mac(APPLICANT, textOf(verificationId, provider, userId, applicant));
    const [kept] = await this.database.query<Row>(
      `update onboarding.verifications set applicant = coalesce(applicant, $3),
         applicant_mac = case when applicant is null then $4 else applicant_mac end
       where verification_id = $1 and provider = $2 returning ${COLUMNS}`,
      [verificationId, provider, applicant, mac],
    );
    return kept === undefined ? null : this.own(kept).applicant;
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

  /** What the provider calls the check, for its callbacks. */
  async checked(verificationId: string, provider: string, check: string): Promise<void> {
    await this.database.query(
      `update onboarding.verifications set check_reference = $3
       where verification_id = $1 and provider = $2 and check_reference is distinct from $3`,
      [verificationId, provider, check],
    );
  }

  private own(row: Row): Verification {
    const { verification_id, provider, user_id, applicant, applicant_mac } = row;
    if (applicant === null && applicant_mac === null) return row;
    if (
      applicant !== null &&
      this.sealer.isAuthentic(APPLICANT, textOf(verification_id, provider, user_id, applicant), applicant_mac)
    )
      return row;
    throw new SealError(`the applicant of verification ${verification_id} was changed outside the service`);
  }
}

function textOf(...parts: readonly [id: string, provider: string, user: string, applicant: string]): string {
  return JSON.stringify(parts);
}
