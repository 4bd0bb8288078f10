import { describe, expect, it } from '@jest/globals';
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import {
  headerOf,
  JPEG,
  jpegOf,
  pngOf,
  pngWith,
  segment,
} from '../../../../test/support/onboarding/images.js';
import { Fault } from '../../../kernel/fault.js';
import { NO_IMAGE, readImage } from './image-content.dto.js';

const PNG = pngOf(240, 200);
const EMPTY = Buffer.alloc(0);
const PIXELS = ['IDAT', Buffer.from([1])] as const;
const END = ['IEND', EMPTY] as const;
const EOI = Buffer.from([0xff, 0xd9]);
const afterStart = (...parts: Buffer[]): Buffer =>
  Buffer.concat([JPEG.subarray(0, 2), ...parts, JPEG.subarray(2)]);
const frameOf = (marker: number): Buffer => {
  const jpeg = Buffer.from(JPEG);
  jpeg[jpeg.indexOf(Buffer.from([0xff, 0xc0])) + 1] = marker;
  return jpeg;
};
const messageOf = (bytes: Buffer): string | null => {
  const found = readImage(bytes);
  return found instanceof Fault ? found.message : null;
};
const EMPTY_CHUNK = pngWith(['tEXt', EMPTY]).subarray(8);
const scan = JPEG.subarray(JPEG.indexOf(Buffer.from([0xff, 0xda])), -2);

describe('an image', () => {
  it.each([
    ['a JPEG', JPEG, 'image/jpeg'],
    ['a PNG', PNG, 'image/png'],
    [
      'a progressive JPEG of several scans',
      Buffer.concat([frameOf(0xc2).subarray(0, -2), scan, scan, EOI]),
      'image/jpeg',
    ],
    [
      'a JPEG with restart markers',
      Buffer.concat([JPEG.subarray(0, -2), Buffer.from([1, 0xff, 0xd0, 2, 0xff, 0]), EOI]),
      'image/jpeg',
    ],
    ['a JPEG with fill bytes', afterStart(Buffer.from([0xff, 0xff])), 'image/jpeg'],
    ['a JPEG with a thumbnail in it', afterStart(segment(0xe1, Buffer.concat([JPEG, EOI]))), 'image/jpeg'],
    [
      'a PNG of several chunks',
      pngWith(headerOf(240, 200), ['tEXt', Buffer.from('a')], PIXELS, PIXELS, END),
      'image/png',
    ],
  ])('is %s', (_, bytes, type) => {
    expect(readImage(bytes)).toEqual({ type, width: 240, height: 200, bytes });
  });

  it.each([
    ['an archive behind a JPEG', JPEG, Buffer.from('PK\u0003\u0004 and more')],
    ['a script behind a PNG', PNG, Buffer.from('<script>alert(1)</script>')],
    ['a second picture, as cameras put it there', JPEG, JPEG],
  ])('is kept without %s', (_, image, more) => {
    expect(readImage(Buffer.concat([image, more]))).toMatchObject({ bytes: image });
  });

  it.each([
    ['nothing', EMPTY],
    ['a GIF', Buffer.from('GIF89a\u0001\u0000\u0001\u0000')],
    ['an SVG', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>')],
    ['a PDF', Buffer.from('%PDF-1.7')],
    ['a page before a JPEG', Buffer.concat([Buffer.from('<script>/*'), JPEG])],
    ['the beginning of a JPEG', JPEG.subarray(0, 2)],
  ])('is not %s', (_, bytes) => {
    expect(readImage(bytes)).toBe(NO_IMAGE);
  });

  it.each([
    ['JPEG', JPEG],
    ['PNG', PNG],
  ])('is a whole %s: cut off anywhere, it is none', (_, image) => {
    for (let length = 8; length < image.length; length += 1)
      expect(messageOf(image.subarray(0, length))).toBe('is damaged or not complete');
  });

  it('is a PNG of which no byte is another', () => {
    for (let at = 0; at < PNG.length; at += 1) {
      const changed = Buffer.from(PNG);
      changed[at]! ^= 0x40;
      expect(readImage(changed)).toBeInstanceOf(Fault);
    }
  });

  it.each([
    ['a JPEG without a frame', Buffer.concat([JPEG.subarray(0, 2), scan, EOI])],
    ['a JPEG without a scan', Buffer.concat([JPEG.subarray(0, JPEG.indexOf(scan)), EOI])],
    [
      'a JPEG of an empty scan',
      Buffer.concat([JPEG.subarray(0, JPEG.indexOf(scan)), scan.subarray(0, 14), EOI]),
    ],
    ['a JPEG of two frames', afterStart(segment(0xc0, Buffer.from([8, 0, 240, 0, 240, 1, 1, 0x11, 0])))],
    ['a JPEG whose segment has no length', afterStart(Buffer.from([0xff, 0xe0, 0, 1]))],
    ['a JPEG in a JPEG', afterStart(Buffer.from([0xff, 0xd8]))],
    ['a PNG without pixels', pngWith(headerOf(240, 200), END)],
    ['a PNG with two headers', pngWith(headerOf(240, 200), headerOf(300, 300), PIXELS, END)],
    ['a PNG that begins with pixels', pngWith(PIXELS, headerOf(240, 200), END)],
    ['a PNG with a short header', pngWith(['IHDR', Buffer.alloc(8)], PIXELS, END)],
  ])('is not %s', (_, bytes) => {
    expect(messageOf(bytes)).toBe('is damaged or not complete');
  });

  it('is no animation, and of a kind that every browser displays', () => {
    expect(messageOf(pngWith(headerOf(240, 200), ['acTL', Buffer.alloc(8)], PIXELS, END))).toBe(
      'must be a still image',
    );
    for (const marker of [0xc3, 0xc9, 0xcf])
      expect(messageOf(frameOf(marker))).toContain('not used by cameras');
  });

  it.each([
    [0, 0, 'at least 200'],
    [199, 4000, 'at least 200'],
    [12_001, 300, 'at most 12000'],
    [300, 65_535, 'at most 12000'],
    [9000, 9000, '64 million in all'],
    [200, 200, null],
  ])('of %d by %d pixels: %s', (width, height, refused) => {
    for (const image of [jpegOf(width, height), pngOf(width, height)]) {
      if (refused === null) expect(readImage(image)).toMatchObject({ width, height });
      else expect(messageOf(image)).toContain(refused);
    }
  });

  it('is refused as a PNG that claims more pixels than a number holds', () => {
    expect(messageOf(pngWith(headerOf(0xffffffff, 0xffffffff), PIXELS, END))).toContain('at most');
  });

  it('is read without an error from any bytes', () => {
    const heads = fc.constantFrom(
      EMPTY,
      JPEG.subarray(0, 3),
      JPEG.subarray(0, 200),
      PNG.subarray(0, 8),
      PNG.subarray(0, 40),
    );
    fc.assert(
      fc.property(heads, fc.uint8Array({ maxLength: 300 }), (head, rest) => {
        readImage(Buffer.concat([head, rest]));
      }),
    );
  });

  it.each([
    [
      'markers that are data',
      Buffer.concat([JPEG.subarray(0, -2), Buffer.alloc(8_000_000, Buffer.from([0xff, 0]))]),
    ],
    ['fill bytes', Buffer.concat([JPEG.subarray(0, 2), Buffer.alloc(8_000_000, 0xff)])],
    ['empty segments', afterStart(Buffer.alloc(8_000_000, Buffer.from([0xff, 0xfe, 0, 2])))],
    ['empty chunks', Buffer.concat([PNG.subarray(0, 33), Buffer.alloc(8_000_000, EMPTY_CHUNK)])],
  ])('of eight megabytes of %s is read as fast as they are hashed, by and large', (_, bytes) => {
    const timed = (act: () => unknown): number => {
      const before = performance.now();
      act();
      return performance.now() - before;
    };
    const hashed = timed(() => createHash('sha512').update(bytes).digest());
    // Reading bytes again for each segment would take millions of times as long.
    expect(timed(() => readImage(bytes))).toBeLessThan(10_000 * hashed);
  });
});
