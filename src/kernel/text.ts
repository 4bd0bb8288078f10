import { DomainError } from './domain-error.js';

/** With halves of surrogate pairs, which UTF-8 cannot hold. */
export const CONTROL_CHARACTERS = /[\p{Cc}\p{Cs}]/u;

/** One line: also separators that end a line somewhere. */
export const CONTROL_AND_LINE_SEPARATORS = /[\p{Cc}\p{Cs}\u2028\u2029]/u;

/** What people call something, trimmed. Throws `validation_failed` on `field`. */
export function readLabel(field: string, text: string, maxLength: number): string {
  const label = text.trim();
  if (label === '') throw DomainError.invalid({ [field]: ['must not be blank'] });
  if (label.length > maxLength)
    throw DomainError.invalid({ [field]: [`must be at most ${maxLength} characters`] });
  if (CONTROL_AND_LINE_SEPARATORS.test(label))
    throw DomainError.invalid({ [field]: ['must not contain control characters'] });
  return label;
}
