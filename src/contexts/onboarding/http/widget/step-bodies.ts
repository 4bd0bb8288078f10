import { Fault } from '../../../../kernel/fault.js';
import { asciiDigits, tidy } from '../../../../kernel/typed-text.js';
import { Field } from '../../../../platform/dto/field.js';
import { text } from '../../../../platform/dto/rules.js';
import { parsePhoneNumber } from '../../../users/contract.js';
import type { Consent, Details } from '../../domain/onboarding.js';
import type { StepBodies } from './onboarding-types.js';

const MAX_NAME_LENGTH = 100;
/** A name without a letter would fail a check that costs money. */
const READABLE = /\p{L}/u;
/** Control characters, lone surrogates and bidirectional controls. */
const UNPRINTABLE = /[\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069]/u;

/** At least 128 bits, so that none is shared by chance. */
const nonce = text({}, (given) =>
  /^[0-9a-f]{32,64}$/.test(given) ? given : new Fault('must be 32 to 64 hex digits'),
);

const name = text({}, (given) => {
  const trimmed = given.trim();
  if (trimmed.length > MAX_NAME_LENGTH || !READABLE.test(trimmed))
    return new Fault('must not be blank or too long');
  return UNPRINTABLE.test(trimmed) ? new Fault('must not hold control characters') : trimmed;
});

/** A day of the calendar since 1900; the minimum age excludes those in the future. */
const dayOfBirth = text({}, (sent) => {
  const given = asciiDigits(tidy(sent));
  const day = new Date(/^(19|20)[0-9]{2}-[0-9]{2}-[0-9]{2}$/.test(given) ? given : NaN);
  // Date reads the 30th of February as the 2nd of March.
  const exists = !Number.isNaN(day.getTime()) && day.toISOString().startsWith(given);
  return exists ? given : new Fault('must be a day in the past');
});

/** A text that can be no number is not the number of the account. */
const phoneNumber = text({}, (given) => {
  const number = parsePhoneNumber(given);
  return number instanceof Fault ? given : number;
});

export class CodeRequest implements Required<StepBodies['code']> {
  @Field(phoneNumber) phone_number!: string;
  @Field(nonce) browser!: string;
}

export class CodeEntry extends CodeRequest implements Required<StepBodies['phone']> {
  @Field(text()) code!: string;
}

export class DetailsEntry implements Required<StepBodies['details']> {
  @Field(name) first_name!: string;
  @Field(name, { nullable: true }) last_name!: string | null;
  @Field(dayOfBirth) date_of_birth!: string;
  @Field(text()) terms_version!: string;
  @Field(text()) privacy_version!: string;
}

export function detailsOf({ first_name, last_name, date_of_birth }: DetailsEntry): Details {
  return { firstName: first_name, lastName: last_name, dateOfBirth: date_of_birth };
}

export function consentOf({ terms_version, privacy_version }: DetailsEntry): Consent {
  return { termsVersion: terms_version, privacyVersion: privacy_version };
}
