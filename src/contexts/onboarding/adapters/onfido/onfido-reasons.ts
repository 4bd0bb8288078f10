import type { ImageKind } from '../../domain/image-kind.js';
import en from '../../words/en.json' with { type: 'json' };
import type { OnfidoObject, OnfidoRefused } from './onfido-api.js';

export function imageReason(kind: ImageKind, { about }: OnfidoRefused): string {
  if (/size|large|small|bytes/.test(about)) return en.reasonSize;
  return kind === 'selfie' ? en.reasonSelfie : en.reasonUnreadable;
}

/** The first that failed is reported: most actionable for the person first. */
const BREAKDOWNS: readonly (readonly [report: RegExp, path: readonly string[], reason: string])[] = [
  [/^document/, ['data_validation', 'document_expiration'], en.reasonExpired],
  [/^document/, ['data_validation', 'expiry_date'], en.reasonExpired],
  [/^document/, ['image_integrity', 'supported_document'], en.reasonUnsupported],
  [/^document/, ['image_integrity'], en.reasonUnreadable],
  [/^document/, ['age_validation'], en.reasonAge],
  [/^document/, ['data_comparison'], en.reasonDetails],
  [/^facial/, ['image_integrity', 'source_integrity'], en.reasonNotLive],
  [/^facial/, ['image_integrity'], en.reasonSelfie],
  [/^facial/, ['visual_authenticity'], en.reasonNotLive],
  [/^facial/, ['face_comparison'], en.reasonFace],
];

/** By the reports of a check that failed. A suspicion is not explained to the person. */
export function checkReason(reports: readonly unknown[]): string {
  const suspected = reports.some((report) => field(report, 'sub_result') === 'suspected');
  if (suspected) return en.reasonVerification;
  for (const [name, path, reason] of BREAKDOWNS) {
    const failed = reports.some((report) => {
      const named = field(report, 'name');
      return typeof named === 'string' && name.test(named) && isFailed(report, path);
    });
    if (failed) return reason;
  }
  return en.reasonVerification;
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
