import { DomainError } from '../../../../kernel/domain-error.js';
import type { Consent, Details } from '../../domain/onboarding.js';

const MAX_NAME_LENGTH = 100;
/** A name has a letter; one of blanks that nobody sees would be checked, and that costs money. */
const READABLE = /\p{L}/u;
/** Control characters, halves of characters, and what turns the direction of a text around. */
const UNPRINTABLE = /[\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069]/u;
/** What people put between the digits of a phone number. */
const PHONE_SEPARATORS = /[\s().-]/g;

/** Of a step; see page-types.ts. What reads it throws `validation_failed`. */
type Body = Readonly<Record<string, unknown>>;

export function phoneOf(body: Body): string {
  return textOf(body, 'phone_number').replace(PHONE_SEPARATORS, '');
}

/** The nonce of the page: 128 bits at least, or a stranger could share it by chance. */
export function browserOf(body: Body): string {
  const nonce = textOf(body, 'browser');
  if (!/^[0-9a-f]{32,64}$/.test(nonce))
    throw DomainError.invalid({ browser: ['must be 32 to 64 hex digits'] });
  return nonce;
}

export function consentOf(body: Body): Consent {
  return { termsVersion: textOf(body, 'terms_version'), privacyVersion: textOf(body, 'privacy_version') };
}

export function detailsOf(body: Body, today: string): Details {
  const name = (field: string): string => {
    const text = textOf(body, field).trim();
    if (text.length > MAX_NAME_LENGTH || !READABLE.test(text))
      throw DomainError.invalid({ [field]: ['must not be blank or too long'] });
    if (UNPRINTABLE.test(text)) throw DomainError.invalid({ [field]: ['must not hold control characters'] });
    return text;
  };
  const dateOfBirth = textOf(body, 'date_of_birth');
  if (!isPastDay(dateOfBirth, today)) {
    throw DomainError.invalid({ date_of_birth: ['must be a day in the past'] });
  }
  return { firstName: name('first_name'), lastName: name('last_name'), dateOfBirth };
}

/** Whether that is a day of the calendar since 1900, `YYYY-MM-DD`. */
function isPastDay(text: string, today: string): boolean {
  if (!/^(19|20)[0-9]{2}-[0-9]{2}-[0-9]{2}$/.test(text)) return false;
  // Date takes the 30th of February for the 2nd of March.
  const day = new Date(text);
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text) && text < today;
}

export function textOf(body: Body, field: string): string {
  const value = body[field];
  if (typeof value !== 'string') throw DomainError.invalid({ [field]: ['must be a string'] });
  return value;
}
