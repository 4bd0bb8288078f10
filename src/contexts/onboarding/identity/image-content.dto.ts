import { Fault } from '../../../kernel/fault.js';
import type { IdentityImage } from './image-kind.js';

interface Size {
  readonly width: number;
  readonly height: number;
}

/** The limits in pixels. Smaller documents are unreadable; larger images waste memory. */
const MIN_SIDE = 200;
const MAX_SIDE = 12_000;
const MAX_PIXELS = 64_000_000;

/** The fault of a body that is not an image: the response is 415. Other faults are 422. */
export const NO_IMAGE = new Fault('The body must be a JPEG or PNG image');

const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const JPEG = Buffer.from([0xff, 0xd8, 0xff]);

/** Returns the type, or a Fault. Reads the header only, because the identity provider decodes the image. */
export function readImageType(bytes: Buffer): IdentityImage['type'] | Fault {
  const beginsWith = (signature: Buffer): boolean => bytes.subarray(0, signature.length).equals(signature);
  const isPng = beginsWith(PNG);
  if (!isPng && !beginsWith(JPEG)) return NO_IMAGE;
  const size = isPng ? readPngSize(bytes) : readJpegSize(bytes);
  if (size === null) return new Fault('is damaged or not complete');
  const { width, height } = size;
  if (Math.min(width, height) < MIN_SIDE)
    return new Fault(`must be at least ${MIN_SIDE} pixels wide and high`);
  if (Math.max(width, height) <= MAX_SIDE && width * height <= MAX_PIXELS)
    return isPng ? 'image/png' : 'image/jpeg';
  return new Fault(
    `must be at most ${MAX_SIDE} pixels wide and high, and ${MAX_PIXELS / 1e6} million in all`,
  );
}

/** Reads the size in IHDR, the first chunk (PNG, third edition, 11.2.1). Returns null if it is damaged. */
function readPngSize(bytes: Buffer): Size | null {
  if (bytes.toString('latin1', 12, 16) !== 'IHDR' || bytes.length < 24) return null;
  return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
}

/** The markers of the frames that browsers display: baseline, extended sequential, progressive. */
const FRAMES = [0xc0, 0xc1, 0xc2];

/** Reads the size in the frame, which follows other segments (ITU T.81, Annex B). Null without a frame. */
function readJpegSize(bytes: Buffer): Size | null {
  for (let at = 2; at + 9 <= bytes.length && bytes[at] === 0xff;) {
    const marker = bytes[at + 1]!;
    if (FRAMES.includes(marker))
      return { height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7) };
    // A fill byte has no length.
    at += marker === 0xff ? 1 : 2 + bytes.readUInt16BE(at + 2);
  }
  return null;
}
