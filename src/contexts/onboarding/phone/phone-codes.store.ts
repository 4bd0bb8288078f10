import { CODE_EVERY_SECONDS } from '../onboardings/onboarding.js';
import { Inject, Injectable } from '@nestjs/common';
import { randomInt } from 'node:crypto';
import { HOUR_MS } from '../../../kernel/clock.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { newId } from '../../../kernel/ids.js';
import { asciiDigits, tidy } from '../../../kernel/typed-text.js';
import { Periodic } from '../../../platform/jobs/background-work.js';
import { Database } from '../../../platform/postgres/database.js';
import { KeyedHash } from '../../../platform/sealing/keyed-hash.js';
import { onboardingConfig, type OnboardingConfig } from '../onboarding.config.js';

const CODE_DIGITS = 6;
export const VALID_SECONDS = 600;
/** The maximum delivery time of a message (Twilio's limit). */
export const DELIVERY_SECONDS = 36_000;
export const MAX_ATTEMPTS = 5;
/** The limits of messages per user in 24 hours: all, and from one address. Then one per DELIVERY_SECONDS. */
export const MAX_CODES_A_DAY = 10;
export const MAX_CODES_OF_AN_ADDRESS = 6;
/** The limits of short codes per user in 24 hours, which allow 30 guesses of 10^6. Later codes are long. */
export const MAX_SHORT_CODES_A_DAY = 6;
export const MAX_SHORT_CODES_OF_AN_ADDRESS = 4;
/** A code that is too long to guess. Attempts are unlimited, so that a stranger cannot exhaust them. */
const LONG_CODE = /^[0-9]{18}$/;
const LONG_GROUPS = 6;

/** `browser` is the secret nonce of the page. `address` is null for requests of the service itself. */
export interface CodeOrigin {
  readonly browser: string;
  readonly address: string | null;
}

export interface PhoneCode {
  readonly id: string;
  readonly code: string;
  readonly isLong: boolean;
}

/** The result: `right`, attempts left (0 if expired, used, other browser), or null for a wrong long code. */
export type Tried = 'right' | number | null;

interface Sent {
  readonly of_user: number;
  readonly short_of_user: number;
  readonly of_address: number;
  readonly short_of_address: number;
  readonly of_address_for_all: number;
  readonly long_in_delivery: boolean | null;
  readonly wait: number | null;
  readonly mine: boolean | null;
}

/**
 * Stores one-time codes as keyed hashes. A short code is valid for VALID_SECONDS, MAX_ATTEMPTS attempts and
 * one browser. Once short codes reach a limit, a message contains a long code, valid for 24 hours in any
 * browser. Another message is refused only while that code is in delivery. A stranger with the link thus
 * cannot lock out the owner of the phone (ADR 158).
 */
@Injectable()
export class PhoneCodes {
  constructor(
    private readonly database: Database,
    private readonly keyedHash: KeyedHash,
    @Inject(onboardingConfig.KEY) private readonly config: OnboardingConfig,
  ) {}

  /**
   * Issues a code that replaces a short code of the same browser. Throws `invalid_transition` within
   * CODE_EVERY_SECONDS of that code, or `rate_limited` (field `code` while a long code is in delivery).
   */
  async issue(userId: string, phoneNumber: string, request: CodeOrigin): Promise<PhoneCode> {
    const browser = this.keyedHash.of('browser', userId, request.browser);
    const address = request.address === null ? null : this.keyedHash.of('address', request.address);
    return this.database.transaction(async (tx) => {
      // A fixed lock order prevents deadlocks.
      for (const lock of [`codes of ${userId}`, ...(address === null ? [] : [`codes of ${address}`])])
        await tx.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [lock]);
      const {
        rows: [sent],
      } = await tx.query<Sent>(
        `select count(*) filter (where user_id = $1)::int as of_user,
           count(*) filter (where user_id = $1 and not is_long)::int as short_of_user,
           count(*) filter (where user_id = $1 and address_hash = $2)::int as of_address,
           count(*) filter (where user_id = $1 and address_hash = $2 and not is_long)::int as short_of_address,
           count(*) filter (where address_hash = $2)::int as of_address_for_all,
           bool_or(sent_at > now() - make_interval(secs => $5)) filter (
             where user_id = $1 and is_long) as long_in_delivery,
           ceil($4 - extract(epoch from now() - max(sent_at) filter (
             where user_id = $1 and address_hash = $2 and attempts_left > 0)))::int as wait,
           bool_or(browser_hash = $3) filter (
             where user_id = $1 and attempts_left > 0 and sent_at > now() - make_interval(secs => $4)) as mine
         from onboarding.phone_codes
         where (user_id = $1 or address_hash = $2) and sent_at > now() - interval '24 hours'`,
        [userId, address, browser, CODE_EVERY_SECONDS, DELIVERY_SECONDS],
      );
      this.requireRoom(sent!);
      const isLong =
        isAtLimit(sent!) ||
        sent!.short_of_user >= MAX_SHORT_CODES_A_DAY ||
        sent!.short_of_address >= MAX_SHORT_CODES_OF_AN_ADDRESS;
      const code = isLong ? longCode() : digits(CODE_DIGITS);
      const id = newId();
      await tx.query(
        `with replaced as (
           update onboarding.phone_codes set attempts_left = 0
           where user_id = $2 and browser_hash = $3 and not is_long
         )
         insert into onboarding.phone_codes (id, user_id, browser_hash, address_hash, code_hash, is_long, attempts_left)
         values ($1, $2, $3, $4, $5, $6, $7)`,
        [id, userId, browser, address, this.hash(userId, phoneNumber, code), isLong, MAX_ATTEMPTS],
      );
      return { id, code, isLong };
    });
  }

  /** Voids an unsent code, so the next may follow at once. Limits count it only if `charged` or tried. */
  async notSent(id: string, charged: boolean): Promise<void> {
    await this.database.query(
      `with forgotten as (
         delete from onboarding.phone_codes where id = $1 and not $2 and attempts_left = $3 returning id
       )
       update onboarding.phone_codes set attempts_left = 0
       where id = $1 and not exists (select from forgotten)`,
      [id, charged, MAX_ATTEMPTS],
    );
  }

  async redeem(userId: string, phoneNumber: string, browser: string, entered: string): Promise<Tried> {
    const code = asciiDigits(tidy(entered)).replace(/[\s.-]/g, '');
    const hash = this.hash(userId, phoneNumber, code);
    if (LONG_CODE.test(code)) {
      const right = await this.database.query(
        `select 1 from onboarding.phone_codes where user_id = $1 and code_hash = $2 and is_long
           and attempts_left > 0 and sent_at > now() - interval '24 hours'`,
        [userId, hash],
      );
      return right.length > 0 ? 'right' : null;
    }
    // The comparison cannot leak by timing: callers cannot choose a keyed hash.
    const [tried] = await this.database.query<{ right: boolean; attempts_left: number }>(
      `update onboarding.phone_codes
         set attempts_left = case when code_hash = $3 then 0 else attempts_left - 1 end
       where user_id = $1 and browser_hash = $2 and not is_long and attempts_left > 0
         and sent_at > now() - make_interval(secs => $4)
       returning code_hash = $3 as right, attempts_left`,
      [userId, this.keyedHash.of('browser', userId, browser), hash, VALID_SECONDS],
    );
    return tried?.right === true ? 'right' : (tried?.attempts_left ?? 0);
  }

  @Periodic({ name: 'retention of codes', everyMs: HOUR_MS })
  async deleteOld(): Promise<void> {
    await this.database.query(
      `delete from onboarding.phone_codes where sent_at < now() - interval '24 hours'`,
    );
  }

  private requireRoom(sent: Sent): void {
    const { of_address_for_all, wait, mine } = sent;
    if (isAtLimit(sent) && sent.long_in_delivery === true) {
      const hint = 'use the code of 18 digits that was sent to the phone';
      throw new DomainError('rate_limited', `Too many codes were sent within a day; ${hint}`, {
        code: [hint],
      });
    }
    if (wait !== null && wait > 0) {
      if (mine === true)
        throw new DomainError(
          'invalid_transition',
          'A code was sent a moment ago; wait before requesting another',
        );
      throw new DomainError('rate_limited', `A code was just sent; try again in ${wait} seconds`, {}, wait);
    }
    if (of_address_for_all >= this.config.onboardingCodesPerAddress)
      throw new DomainError('rate_limited', 'Too many codes were requested from this network within a day');
  }

  private hash(userId: string, phoneNumber: string, code: string): string {
    return this.keyedHash.of('phone code', userId, phoneNumber, code.replaceAll(' ', ''));
  }
}

function isAtLimit({ of_user, of_address }: Sent): boolean {
  return of_user >= MAX_CODES_A_DAY || of_address >= MAX_CODES_OF_AN_ADDRESS;
}

function digits(count: number): string {
  return String(randomInt(10 ** count)).padStart(count, '0');
}

function longCode(): string {
  return Array.from({ length: LONG_GROUPS }, () => digits(3)).join(' ');
}
