import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { JPEG, jpegOf, pngOf, segment } from '../../../../test/support/onboarding/images.js';
import { Fault } from '../../../kernel/fault.js';
import { NO_IMAGE, readImageType } from './image-content.dto.js';

const PNG = pngOf(240, 200);
const afterStart = (...parts: Buffer[]): Buffer =>
  Buffer.concat([JPEG.subarray(0, 2), ...parts, JPEG.subarray(2)]);
const frameOf = (marker: number): Buffer => {
  const jpeg = Buffer.from(JPEG);
  jpeg[jpeg.indexOf(Buffer.from([0xff, 0xc0])) + 1] = marker;
  return jpeg;
};
const read = (bytes: Buffer): string => {
  const found = readImageType(bytes);
  return found instanceof Fault ? found.message : found;
};

describe('an image', () => {
  it.each([
    ['a JPEG', JPEG, 'image/jpeg'],
    ['a PNG', PNG, 'image/png'],
    ['a progressive JPEG', frameOf(0xc2), 'image/jpeg'],
    ['a JPEG with fill bytes', afterStart(Buffer.from([0xff, 0xff])), 'image/jpeg'],
    ['a JPEG with a thumbnail in it', afterStart(segment(0xe1, jpegOf(10, 10))), 'image/jpeg'],
  ])('can be %s', (_, bytes, type) => expect(readImageType(bytes)).toBe(type));

  it.each([
    ['nothing', Buffer.alloc(0)],
    ['a GIF', Buffer.from('GIF89a\u0001\u0000\u0001\u0000')],
    ['an SVG', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>')],
    ['a page before a JPEG', Buffer.concat([Buffer.from('<script>/*'), JPEG])],
    ['the beginning of a JPEG', JPEG.subarray(0, 2)],
  ])('cannot be %s', (_, bytes) => expect(readImageType(bytes)).toBe(NO_IMAGE));

  it.each([
    ['a JPEG that ends before its frame', JPEG.subarray(0, 100)],
    ['a JPEG of a type that no browser displays', frameOf(0xc3)],
    ['a PNG that ends in its header', PNG.subarray(0, 20)],
    ['a PNG without a header', Buffer.from(PNG.toString('latin1').replace('IHDR', 'IDAT'), 'latin1')],
  ])('cannot be %s', (_, bytes) => expect(read(bytes)).toBe('is damaged or not complete'));

  it.each([
    [0, 0, 'at least 200'],
    [199, 4000, 'at least 200'],
    [12_001, 300, 'at most 12000'],
    [300, 65_535, 'at most 12000'],
    [9000, 9000, '64 million in all'],
    [200, 200, 'image/'],
  ])('of %d by %d pixels has the result: %s', (width, height, expected) => {
    for (const image of [jpegOf(width, height), pngOf(width, height)])
      expect(read(image)).toContain(expected);
  });

  it('is read without an exception, regardless of its bytes', () => {
    const heads = fc.constantFrom(JPEG.subarray(0, 3), JPEG.subarray(0, 200), PNG.subarray(0, 8));
    fc.assert(
      fc.property(heads, fc.uint8Array({ maxLength: 300 }), (head, rest) => {
        readImageType(Buffer.concat([head, rest]));
      }),
    );
  });
});
