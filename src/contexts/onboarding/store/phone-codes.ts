import { Injectable } from '@nestjs/common';
import { randomInt } from 'node:crypto';
import { DomainError } from '../../../kernel/domain-error.js';
import { Database } from '../../../platform/postgres/database.js';
import { KeyedHash } from '../../../platform/sealing/keyed-hash.js';

export const CODE_DIGITS = 6;
export const VALID_SECONDS = 600;
export const MAX_ATTEMPTS = 5;
/** Seconds between two codes for one user: a message costs money and the widget's address is not secret. */
export const CODE_EVERY_SECONDS = 30;
/** Codes, and wrong guesses, per user within 24 hours, whichever they are. */
export const MAX_CODES_A_DAY = 10;
export const MAX_GUESSES_A_DAY = 30;

/** A guess that was not right tells how many more the code takes; 0: none, it has run out, was used or tried too often. */
export type Tried = 'right' | number;

/** The times of that column that lie within the last 24 hours. */
const lastDay = (column: 'sent_at' | 'guessed_at'): string =>
  `array(select at from unnest(kept.${column}) at where at > now() - interval '24 hours')`;
const MAY_GUESS = `cardinality(${lastDay('guessed_at')}) < ${MAX_GUESSES_A_DAY}`;
const MAY_SEND = `cardinality(${lastDay('sent_at')}) < ${MAX_CODES_A_DAY}`;

/**
 * One-time codes for phones: kept as keyed hashes, good for {@link VALID_SECONDS} and {@link MAX_ATTEMPTS} tries,
 * once. A new code for the same user replaces the one before. A user has one row, and every decision is one statement
 * on it, which PostgreSQL evaluates under the row's lock: the limits hold over all processes.
 */
@Injectable()
export class PhoneCodes {
  constructor(
    private readonly database: Database,
    private readonly keyedHash: KeyedHash,
  ) {}

  /**
   * A fresh code for this user and number; whoever gets it must hand it to nobody but the phone. Throws
   * `invalid_transition` less than {@link CODE_EVERY_SECONDS} after a code that is not used yet, `rate_limited` at
   * the limits of the day.
   */
  async issue(userId: string, phoneNumber: string): Promise<string> {
    const code = String(randomInt(10 ** CODE_DIGITS)).padStart(CODE_DIGITS, '0');
    const issued = await this.database.query(
      `insert into onboarding.phone_codes as kept (user_id, code_hash, expires_at, attempts_left, next_at, sent_at)
       values ($1, $2, now() + make_interval(secs => $3), $4, now() + make_interval(secs => $5), array[now()])
       on conflict (user_id) do update set code_hash = excluded.code_hash, expires_at = excluded.expires_at,
         attempts_left = excluded.attempts_left, next_at = excluded.next_at,
         sent_at = ${lastDay('sent_at')} || excluded.sent_at
       where kept.next_at <= now() and ${MAY_SEND} and ${MAY_GUESS}
       returning user_id`,
      [userId, this.hash(userId, phoneNumber, code), VALID_SECONDS, MAX_ATTEMPTS, CODE_EVERY_SECONDS],
    );
    if (issued.length === 0) await this.refuse(userId);
    return code;
  }

  /**
   * The code could not be handed over: another one may be asked for at once. Where nothing was `charged`, as the provider
   * was unavailable, it does not count towards the day: who tries again and again meanwhile is not shut out for it.
   */
  async notSent(userId: string, phoneNumber: string, code: string, charged: boolean): Promise<void> {
    await this.database.query(
      `update onboarding.phone_codes set next_at = now(),
         sent_at = case when $3 then sent_at else sent_at[:cardinality(sent_at) - 1] end
       where user_id = $1 and code_hash = $2`,
      [userId, this.hash(userId, phoneNumber, code), charged],
    );
  }

  /**
   * Whether that is the code that was sent to that number. `right` at most once for each code; every call counts as a
   * try. Throws `rate_limited` after {@link MAX_GUESSES_A_DAY} wrong ones, also for the right code.
   */
  async redeem(userId: string, phoneNumber: string, code: string): Promise<Tried> {
    // Comparing in SQL tells nothing by its time: who does not hold the key cannot choose the hash.
    const [tried] = await this.database.query<{ right: boolean; attempts_left: number }>(
      `update onboarding.phone_codes as kept set
         attempts_left = case when code_hash = $2 then 0 else attempts_left - 1 end,
         next_at = case when code_hash = $2 then now() else next_at end,
         guessed_at = case when code_hash = $2 then guessed_at else ${lastDay('guessed_at')} || now() end
       where user_id = $1 and attempts_left > 0 and expires_at > now() and ${MAY_GUESS}
       returning code_hash = $2 as right, attempts_left`,
      [userId, this.hash(userId, phoneNumber, code)],
    );
    if (tried?.right === true) return 'right';
    if (tried === undefined) await this.refuseGuesses(userId);
    return tried?.attempts_left ?? 0;
  }

  /** Says which of the limits it was. */
  private async refuse(userId: string): Promise<never> {
    await this.refuseGuesses(userId);
    const [kept] = await this.database.query<{ may_send: boolean }>(
      `select ${MAY_SEND} as may_send from onboarding.phone_codes kept where user_id = $1`,
      [userId],
    );
    if (kept?.may_send === false) {
      throw new DomainError('rate_limited', 'Too many codes were sent within a day; try again later');
    }
    throw new DomainError(
      'invalid_transition',
      'A code was sent a moment ago; wait before asking for another',
    );
  }

  private async refuseGuesses(userId: string): Promise<void> {
    const [kept] = await this.database.query<{ may_guess: boolean }>(
      `select ${MAY_GUESS} as may_guess from onboarding.phone_codes kept where user_id = $1`,
      [userId],
    );
    if (kept?.may_guess === false) {
      throw new DomainError('rate_limited', 'Too many wrong codes within a day; try again later');
    }
  }

  private hash(userId: string, phoneNumber: string, code: string): string {
    return this.keyedHash.of('phone code', userId, phoneNumber, code);
  }
}
