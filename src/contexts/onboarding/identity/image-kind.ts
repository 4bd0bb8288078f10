export const IMAGE_KINDS = ['document_front', 'document_back', 'selfie'] as const;
export type ImageKind = (typeof IMAGE_KINDS)[number];

/** The images that every verification requires. Only some documents need a back side. */
export const REQUIRED_IMAGES: readonly ImageKind[] = ['document_front', 'selfie'];

export function missingImages(kinds: Iterable<ImageKind>): readonly ImageKind[] {
  const there = new Set(kinds);
  return REQUIRED_IMAGES.filter((kind) => !there.has(kind));
}

export interface IdentityImage {
  readonly kind: ImageKind;
  readonly type: 'image/jpeg' | 'image/png';
  readonly bytes: Buffer;
}

/** The last names that select an outcome in the sandbox. */
export const SANDBOX_NAMES = {
  rejected: 'Rejected',
  /** An operator (`npm run admin -- users review`) or SANDBOX_REVIEW_SECONDS ends the review. */
  review: 'Review',
  cardFails: 'Cardless',
} as const;
