import { Injectable } from '@nestjs/common';
import { randomInt, timingSafeEqual } from 'node:crypto';
import { Database } from '../../platform/database/database.js';
import { KeyedHash } from '../../platform/sealing/keyed-hash.js';

export const CODE_DIGITS = 6;
export const VALID_SECONDS = 600;
export const MAX_ATTEMPTS = 5;

/**
 * One-time codes for phones: kept as keyed hashes, good for {@link VALID_SECONDS} and {@link MAX_ATTEMPTS} tries,
 * once. A new code for the same user replaces the one before.
 */
@Injectable()
export class PhoneCodes {
  constructor(
    private readonly database: Database,
    private readonly keyedHash: KeyedHash,
  ) {}

  /** A fresh code for this user and number; whoever gets it must hand it to nobody but the phone. */
  async issue(userId: string, phoneNumber: string): Promise<string> {
    const code = String(randomInt(10 ** CODE_DIGITS)).padStart(CODE_DIGITS, '0');
    await this.database.query(
      `insert into onboarding.phone_codes (user_id, code_hash, expires_at, attempts_left)
       values ($1, $2, now() + make_interval(secs => $3), $4)
       on conflict (user_id) do update set code_hash = excluded.code_hash, expires_at = excluded.expires_at,
         attempts_left = excluded.attempts_left`,
      [userId, this.hash(userId, phoneNumber, code), VALID_SECONDS, MAX_ATTEMPTS],
    );
    return code;
  }

  /** Whether a code was issued for the user less than `seconds` ago, and is not used yet. */
  async issuedWithin(userId: string, seconds: number): Promise<boolean> {
    const found = await this.database.query(
      `select 1 from onboarding.phone_codes where user_id = $1 and expires_at > now() + make_interval(secs => $2)`,
      [userId, VALID_SECONDS - seconds],
    );
    return found.length > 0;
  }

  /** Whether that is the code that was sent to that number. True at most once for each code; every call counts as a try. */
  async redeem(userId: string, phoneNumber: string, code: string): Promise<boolean> {
    const [kept] = await this.database.query<{ code_hash: string }>(
      `update onboarding.phone_codes set attempts_left = attempts_left - 1
       where user_id = $1 and attempts_left > 0 and expires_at > now() returning code_hash`,
      [userId],
    );
    const hash = this.hash(userId, phoneNumber, code);
    if (kept === undefined || !timingSafeEqual(Buffer.from(kept.code_hash), Buffer.from(hash))) return false;
    const used = await this.database.query(
      'delete from onboarding.phone_codes where user_id = $1 and code_hash = $2 returning user_id',
      [userId, hash],
    );
    return used.length === 1;
  }

  private hash(userId: string, phoneNumber: string, code: string): string {
    return this.keyedHash.of('phone code', userId, phoneNumber, code);
  }
}
