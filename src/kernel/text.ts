import { DomainError } from './domain-error.js';

/** Control characters, and halves of surrogate pairs, which UTF-8 cannot encode. */
export const CONTROL_CHARACTERS = /[\p{Cc}\p{Cs}]/u;

export const CONTROL_AND_LINE_SEPARATORS = /[\p{Cc}\p{Cs}\u2028\u2029]/u;

/** The pattern of the prefixes of issued secrets: endpoints, merchants, exchange and admin keys. */
export const SECRET_PREFIX = '(?:whsec|dsk|dxs|dsb_(?:live|test)_admin)_';
const SECRET = new RegExp(`${SECRET_PREFIX}[0-9A-Za-z+/]{4}`, 'i');
const BIDIRECTIONAL = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;

/** Returns the reason why a permanent record must not contain the text, or null. */
export function findUnrecordable(text: string): string | null {
  if (SECRET.test(text)) return 'must not contain a secret';
  return BIDIRECTIONAL.test(text) ? 'must not contain bidirectional characters' : null;
}

/** Trims and checks a display name. Throws `validation_failed` on `field`. */
export function readLabel(field: string, text: string, maxLength: number): string {
  const label = text.trim();
  if (label === '') throw DomainError.invalid({ [field]: ['must not be blank'] });
  if (label.length > maxLength)
    throw DomainError.invalid({ [field]: [`must be at most ${maxLength} characters`] });
  if (CONTROL_AND_LINE_SEPARATORS.test(label))
    throw DomainError.invalid({ [field]: ['must not contain control characters'] });
  const fault = findUnrecordable(label);
  if (fault !== null) throw DomainError.invalid({ [field]: [fault] });
  return label;
}
