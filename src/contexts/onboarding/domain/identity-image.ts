import type { ImageKind } from './image-kind.js';

export { IMAGE_KINDS, type ImageKind } from './image-kind.js';

export interface IdentityImage {
  readonly kind: ImageKind;
  readonly type: 'image/jpeg' | 'image/png';
  readonly bytes: Buffer;
}
