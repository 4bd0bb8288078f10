import { CONTROL_CHARACTERS } from '../../../kernel/text.js';
import { Fault } from '../../../kernel/fault.js';
import { tidy } from '../../../kernel/typed-text.js';
import type { UserCreated } from './user.js';

type Profile = UserCreated['data'];
export type NewProfile = Pick<Profile, 'phone_number'> & Partial<Pick<Profile, 'email' | 'external_id'>>;

export const MAX_EXTERNAL_ID_LENGTH = 255;
const MAX_EMAIL_LENGTH = 320;

const EMAIL = /^[^\s@]+@[^\s@]+$/;

/** Returns the trimmed lower-case address, null for a blank text, or a Fault for another text. */
export function readEmail(sent: string): string | null | Fault {
  const email = tidy(sent).toLowerCase();
  if (email === '') return null;
  const valid = EMAIL.test(email) && email.length <= MAX_EMAIL_LENGTH && !CONTROL_CHARACTERS.test(email);
  return valid ? email : new Fault('is not an email address');
}

export function readExternalId(sent: string): string | Fault {
  const externalId = tidy(sent);
  if (externalId === '') return new Fault('must not be blank');
  if ([...externalId].length > MAX_EXTERNAL_ID_LENGTH)
    return new Fault(`must be at most ${MAX_EXTERNAL_ID_LENGTH} characters`);
  return CONTROL_CHARACTERS.test(externalId) ? new Fault('must not contain control characters') : externalId;
}
