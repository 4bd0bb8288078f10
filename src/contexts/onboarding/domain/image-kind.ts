export const IMAGE_KINDS = ['document_front', 'document_back', 'selfie'] as const;
export type ImageKind = (typeof IMAGE_KINDS)[number];

/** Without these no identity can be verified; whether a document has a back depends on it. */
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
