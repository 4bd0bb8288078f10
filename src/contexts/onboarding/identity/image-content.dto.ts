import { crc32 } from 'node:zlib';
import { Fault } from '../../../kernel/fault.js';

interface ImageContent {
  readonly type: 'image/jpeg' | 'image/png';
  readonly width: number;
  readonly height: number;
  readonly bytes: Buffer;
}

/** Smaller documents are unreadable; larger images waste memory. */
const MIN_SIDE = 200;
const MAX_SIDE = 12_000;
const MAX_PIXELS = 64_000_000;

/** The fault of a body that is no image (415). Other faults are 422. */
export const NO_IMAGE = new Fault('The body must be a JPEG or PNG image');

/** Validates every segment of an image without decoding it. */
export function readImage(bytes: Buffer): ImageContent | Fault {
  const found = isPng(bytes) ? readPng(bytes) : isJpeg(bytes) ? readJpeg(bytes) : NO_IMAGE;
  if (found instanceof Fault) return found;
  const { width, height } = found;
  if (Math.min(width, height) < MIN_SIDE)
    return new Fault(`must be at least ${MIN_SIDE} pixels wide and high`);
  if (Math.max(width, height) <= MAX_SIDE && width * height <= MAX_PIXELS) return found;
  return new Fault(
    `must be at most ${MAX_SIDE} pixels wide and high, and ${MAX_PIXELS / 1e6} million in all`,
  );
}

const DAMAGED = new Fault('is damaged or not complete');

const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const CHUNK_BYTES = 12;

function isPng(bytes: Buffer): boolean {
  return bytes.subarray(0, PNG.length).equals(PNG);
}

/** PNG (third edition), 5: chunks of length, type, data and CRC; IHDR first, IEND last. */
function readPng(bytes: Buffer): ImageContent | Fault {
  let hasPixels = false;
  for (let at = PNG.length; at + CHUNK_BYTES <= bytes.length;) {
    const length = bytes.readUInt32BE(at);
    const end = at + CHUNK_BYTES + length;
    if (end > bytes.length) return DAMAGED;
    const type = bytes.toString('latin1', at + 4, at + 8);
    if (crc32(bytes.subarray(at + 4, end - 4)) !== bytes.readUInt32BE(end - 4)) return DAMAGED;
    const isFirst = at === PNG.length;
    if (isFirst !== (type === 'IHDR') || (isFirst && length !== 13)) return DAMAGED;
    if (type === 'acTL') return new Fault('must be a still image');
    hasPixels ||= type === 'IDAT' && length > 0;
    if (type === 'IEND') {
      const [width, height] = [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
      return hasPixels ? { type: 'image/png', width, height, bytes: bytes.subarray(0, end) } : DAMAGED;
    }
    at = end;
  }
  return DAMAGED;
}

function isJpeg(bytes: Buffer): boolean {
  return bytes[0] === 0xff && bytes[1] === 0xd8 && bytes[2] === 0xff;
}

const [EOI, SOS] = [0xd9, 0xda];
const FRAMES = [0xc0, 0xc1, 0xc2];
const OTHER_FRAMES = [0xc3, 0xc5, 0xc6, 0xc7, 0xc9, 0xca, 0xcb, 0xcd, 0xce, 0xcf];

/** ITU T.81, Annex B: markers with segments from SOI to EOI; the data of a scan reaches to the next marker. */
function readJpeg(bytes: Buffer): ImageContent | Fault {
  let size: { readonly width: number; readonly height: number } | null = null;
  let hasScan = false;
  for (let at = 2; at + 2 <= bytes.length;) {
    if (bytes[at] !== 0xff) return DAMAGED;
    const marker = bytes[at + 1]!;
    if (marker === 0xff) {
      // A fill byte.
      at += 1;
      continue;
    }
    if (marker === EOI)
      return size !== null && hasScan
        ? { type: 'image/jpeg', ...size, bytes: bytes.subarray(0, at + 2) }
        : DAMAGED;
    if (marker < 0xc0 || isRestart(marker) || marker === 0xd8 || at + 4 > bytes.length) return DAMAGED;
    const length = bytes.readUInt16BE(at + 2);
    const end = at + 2 + length;
    if (length < 2 || end > bytes.length) return DAMAGED;
    if (OTHER_FRAMES.includes(marker)) return new Fault('is a type of JPEG that is not used by cameras');
    if (FRAMES.includes(marker)) {
      if (size !== null || length < 8) return DAMAGED;
      size = { height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7) };
    }
    if (marker !== SOS) at = end;
    else {
      if (size === null) return DAMAGED;
      at = endOfScan(bytes, end);
      hasScan ||= at > end;
    }
  }
  return DAMAGED;
}

/** Returns the offset of the next marker, or the end. `FF 00` is data; restart markers belong to the scan. */
function endOfScan(bytes: Buffer, from: number): number {
  for (let at = from; at + 1 < bytes.length; at += 1) {
    if (bytes[at] !== 0xff) continue;
    const next = bytes[at + 1]!;
    if (next !== 0 && next !== 0xff && !isRestart(next)) return at;
  }
  return bytes.length;
}

function isRestart(marker: number): boolean {
  return marker >= 0xd0 && marker <= 0xd7;
}
