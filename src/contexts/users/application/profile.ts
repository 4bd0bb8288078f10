import { createRequire } from 'node:module';
import { parsePhoneNumberFromString, type MetadataJson } from 'libphonenumber-js/core';
import { DomainError, type FieldErrors } from '../../../kernel/domain-error.js';

/** A profile as the merchant sent it, in the form it is kept and compared in. */
export interface NewProfile {
  readonly externalId: string | null;
  readonly phoneNumber: string;
  readonly email: string | null;
}

export const MAX_EXTERNAL_ID_LENGTH = 255;
export const MAX_EMAIL_LENGTH = 320;

/** Calling codes and lengths of all countries, without the tables that only formatting needs. */
const METADATA = createRequire(import.meta.url)('libphonenumber-js/metadata.min.json') as MetadataJson;

const E164 = /^\+[1-9][0-9]{6,14}$/;
const EMAIL = /^[^\s@]+@[^\s@]+$/;
const UNPRINTABLE = /[\p{Cc}\p{Cs}]/u;

/**
 * Reads the body of POST /merchants/v1/users (contract.md 8.2 to 8.4).
 * Throws `validation_failed` that names every field at fault.
 */
export function parseProfile(fields: Readonly<Record<string, unknown>>): NewProfile {
  const errors: Record<string, string[]> = {};
  const read = <T>(field: string, parse: (value: unknown) => T): T | undefined => {
    try {
      return parse(fields[field]);
    } catch (error) {
      if (!(error instanceof Malformed)) throw error;
      errors[field] = [error.message];
      return undefined;
    }
  };
  const phoneNumber = read('phone_number', parsePhoneNumber);
  const email = read('email', parseEmail);
  const externalId = read('external_id', parseExternalId);
  if (phoneNumber === undefined || email === undefined || externalId === undefined) {
    throw DomainError.invalid(errors satisfies FieldErrors);
  }
  return { phoneNumber, email, externalId };
}

/** What is wrong with one field; becomes an entry of `errors`. */
class Malformed extends Error {}

/**
 * E.164 of a plausible number: a plus, a calling code that exists and 7 to 15 digits; spaces, dashes, dots and
 * brackets go. Whether the number is assigned is the one-time code's business.
 */
function parsePhoneNumber(value: unknown): string {
  const text = requireText(value)?.trim();
  if (text === undefined || text === '') throw new Malformed('is required');
  if (!text.startsWith('+'))
    throw new Malformed('must be in E.164 form, beginning with + and the country code');
  const parsed = parsePhoneNumberFromString(text, { extract: false }, METADATA);
  if (parsed === undefined || parsed.ext !== undefined || !E164.test(parsed.number)) {
    throw new Malformed('is not a plausible E.164 phone number');
  }
  return parsed.number;
}

function parseEmail(value: unknown): string | null {
  const email = requireText(value)?.trim().toLowerCase();
  if (email === undefined || email === '') return null;
  if (!EMAIL.test(email) || email.length > MAX_EMAIL_LENGTH || UNPRINTABLE.test(email)) {
    throw new Malformed('is not an email address');
  }
  return email;
}

function parseExternalId(value: unknown): string | null {
  const externalId = requireText(value)?.trim();
  if (externalId === undefined) return null;
  if (externalId === '') throw new Malformed('must not be blank');
  if ([...externalId].length > MAX_EXTERNAL_ID_LENGTH) {
    throw new Malformed(`must be at most ${MAX_EXTERNAL_ID_LENGTH} characters`);
  }
  if (UNPRINTABLE.test(externalId)) throw new Malformed('must not contain control characters');
  return externalId;
}

function requireText(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') throw new Malformed('must be a string');
  return value;
}
