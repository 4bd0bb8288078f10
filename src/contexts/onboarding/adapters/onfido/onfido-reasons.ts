import type { ImageKind } from '../../domain/image-kind.js';
import type { OnfidoObject, OnfidoRefused } from './onfido-api.js';

/** Why an identity was not verified. Each has a translation in words/. */
export const REASONS = {
  expired: 'Your document has expired. Please use one that is valid.',
  unreadable:
    'Your document could not be read. Please take its picture again: whole, sharp and without reflections.',
  unsupported:
    'This kind of document cannot be checked. Please use a passport, an identity card or a driving licence.',
  details: 'Your name or date of birth is not what your document says. Please correct your details.',
  age: 'You are not old enough for this account.',
  face: 'The face on the selfie does not match the one on the document.',
  selfie:
    'Your face could not be seen on the selfie. Please take it again, without anyone else in the picture.',
  notLive: 'The selfie must be a live picture of you. Please take it again.',
  verification: 'Your identity could not be verified.',
  size: 'A picture is too small or too large. Please take it again.',
  gone: 'Your pictures are no longer there. Please take them again.',
  name: 'Your name holds characters that cannot be checked. Please write it as in your document.',
} as const;

export function imageReason(kind: ImageKind, { about }: OnfidoRefused): string {
  if (/size|large|small|bytes/.test(about)) return REASONS.size;
  return kind === 'selfie' ? REASONS.selfie : REASONS.unreadable;
}

/** The first that failed is reported: most actionable for the person first. */
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

/** By the reports of a check that failed. A suspicion is not explained to the person. */
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

function isFailed(report: unknown, path: readonly string[]): boolean {
  let at: unknown = report;
  for (const name of path) at = field(field(at, 'breakdown'), name);
  const result = field(at, 'result');
  return result === 'consider' || result === 'unidentified';
}

function field(object: unknown, name: string): unknown {
  return typeof object === 'object' && object !== null ? (object as OnfidoObject)[name] : undefined;
}
