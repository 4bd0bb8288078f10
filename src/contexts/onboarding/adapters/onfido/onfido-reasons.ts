import type { ImageKind } from '../../domain/identity-image.js';
import type { OnfidoObject, OnfidoRefused } from './onfido-api.js';

/**
 * Why an identity did not pass, in our own words; those of the provider are for nobody. Each has words in every language of
 * the page: words/reasons.ts.
 */
export const REASONS = {
  expired: 'Your document has expired. Please use one that is valid.',
  unreadable:
    'Your document could not be read. Please take its picture again: whole, sharp and without reflections.',
  unsupported:
    'This kind of document cannot be checked. Please use a passport, an identity card or a driving licence.',
  details: 'Your name or date of birth is not what your document says. Please correct your details.',
  age: 'You are not old enough for this account.',
  face: 'The face on the selfie does not match the one on the document.',
  selfie: 'Your face could not be seen on the selfie. Please take it again, with nobody else in the picture.',
  notLive: 'The selfie must be a picture that is taken of you now. Please take it again.',
  verification: 'Your identity could not be verified.',
  size: 'A picture is too small or too large. Please take it again.',
  gone: 'Your pictures are no longer there. Please take them again.',
  name: 'Your name holds characters that cannot be checked. Please write it as it stands in your document.',
} as const;

/** Of a picture that Onfido does not take. */
export function imageReason(kind: ImageKind, { about }: OnfidoRefused): string {
  if (/size|large|small|bytes/.test(about)) return REASONS.size;
  return kind === 'selfie' ? REASONS.selfie : REASONS.unreadable;
}

/** Breakdowns in the order in which they are told: of several reasons the one that a person can do most about. */
const BREAKDOWNS: readonly (readonly [
  report: RegExp,
  path: readonly string[],
  reason: keyof typeof REASONS,
])[] = [
  [/^document/, ['data_validation', 'document_expiration'], 'expired'],
  [/^document/, ['data_validation', 'expiry_date'], 'expired'],
  [/^document/, ['image_integrity', 'supported_document'], 'unsupported'],
  [/^document/, ['image_integrity'], 'unreadable'],
  [/^document/, ['age_validation'], 'age'],
  [/^document/, ['data_comparison'], 'details'],
  [/^facial/, ['image_integrity', 'source_integrity'], 'notLive'],
  [/^facial/, ['image_integrity'], 'selfie'],
  [/^facial/, ['visual_authenticity'], 'notLive'],
  [/^facial/, ['face_comparison'], 'face'],
];

/** Of a check that did not pass, by its reports as they came. A suspicion is not explained to whom it is about. */
export function checkReason(reports: readonly unknown[]): string {
  const suspected = reports.some((report) => field(report, 'sub_result') === 'suspected');
  if (suspected) return REASONS.verification;
  for (const [name, path, reason] of BREAKDOWNS) {
    const failed = reports.some((report) => {
      const named = field(report, 'name');
      return typeof named === 'string' && name.test(named) && isFailed(report, path);
    });
    if (failed) return REASONS[reason];
  }
  return REASONS.verification;
}

/** Whether the result of a breakdown, or of one inside of it, is neither clear nor missing. */
function isFailed(report: unknown, path: readonly string[]): boolean {
  let at: unknown = report;
  for (const name of path) at = field(field(at, 'breakdown'), name);
  const result = field(at, 'result');
  return result === 'consider' || result === 'unidentified';
}

function field(object: unknown, name: string): unknown {
  return typeof object === 'object' && object !== null ? (object as OnfidoObject)[name] : undefined;
}
