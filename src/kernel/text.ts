import { DomainError } from './domain-error.js';

/** One line: control characters, halves of surrogate pairs, and separators that end a line somewhere are refused. */
export const UNPRINTABLE = /[\p{Cc}\p{Cs}\u2028\u2029]/u;

/** What people call something, trimmed. Throws `validation_failed` on `field`. */
export function readLabel(field: string, text: string, maxLength: number): string {
  const label = text.trim();
  if (label === '') throw DomainError.invalid({ [field]: ['must not be blank'] });
  if (label.length > maxLength)
    throw DomainError.invalid({ [field]: [`must be at most ${maxLength} characters`] });
  if (UNPRINTABLE.test(label)) throw DomainError.invalid({ [field]: ['must hold no control characters'] });
  return label;
}
