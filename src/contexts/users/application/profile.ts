import { createRequire } from 'node:module';
import { parsePhoneNumberFromString, type MetadataJson } from 'libphonenumber-js/core';
import { CONTROL_CHARACTERS } from '../../../kernel/text.js';
import { Fault } from '../../../kernel/fault.js';

export interface NewProfile {
  readonly phone_number: string;
  readonly email?: string | null;
  readonly external_id?: string | null;
}

export const MAX_EXTERNAL_ID_LENGTH = 255;
const MAX_EMAIL_LENGTH = 320;

/** Calling codes and lengths of numbers, without tables for formatting. */
const METADATA = createRequire(import.meta.url)('libphonenumber-js/metadata.min.json') as MetadataJson;

const E164 = /^\+[1-9][0-9]{6,14}$/;
const EMAIL = /^[^\s@]+@[^\s@]+$/;

/** E.164 of a plausible number: a plus, an existing calling code and 7 to 15 digits, without separators. */
export function readPhoneNumber(sent: string): string | Fault {
  const text = sent.trim();
  if (text === '') return new Fault('is required');
  if (!text.startsWith('+')) return new Fault('must be in E.164 form, beginning with + and the country code');
  const parsed = parsePhoneNumberFromString(text, { extract: false }, METADATA);
  const plausible = parsed !== undefined && parsed.ext === undefined && E164.test(parsed.number);
  return plausible ? parsed.number : new Fault('is not a plausible E.164 phone number');
}

/** Trimmed and in lower case; null for a blank one. */
export function readEmail(sent: string): string | null | Fault {
  const email = sent.trim().toLowerCase();
  if (email === '') return null;
  const valid = EMAIL.test(email) && email.length <= MAX_EMAIL_LENGTH && !CONTROL_CHARACTERS.test(email);
  return valid ? email : new Fault('is not an email address');
}

export function readExternalId(sent: string): string | Fault {
  const externalId = sent.trim();
  if (externalId === '') return new Fault('must not be blank');
  if ([...externalId].length > MAX_EXTERNAL_ID_LENGTH)
    return new Fault(`must be at most ${MAX_EXTERNAL_ID_LENGTH} characters`);
  return CONTROL_CHARACTERS.test(externalId) ? new Fault('must not contain control characters') : externalId;
}
