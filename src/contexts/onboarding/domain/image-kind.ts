export const IMAGE_KINDS = ['document_front', 'document_back', 'selfie'] as const;
export type ImageKind = (typeof IMAGE_KINDS)[number];
