import type { ImageKind } from './image-kind.js';

export { IMAGE_KINDS, missingImages, REQUIRED_IMAGES, type ImageKind } from './image-kind.js';

export interface IdentityImage {
  readonly kind: ImageKind;
  readonly type: 'image/jpeg' | 'image/png';
  readonly bytes: Buffer;
}
