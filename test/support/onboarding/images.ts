const START = Buffer.from([0xff, 0xd8]);

export function segment(marker: number, data: Buffer): Buffer {
  const head = Buffer.from([0xff, marker, 0, 0]);
  head.writeUInt16BE(data.length + 2, 2);
  return Buffer.concat([head, data]);
}

/** A JPEG of one frame and an empty scan, after `comment` bytes of comment. */
export function jpegOf(width: number, height: number, comment = 1000): Buffer {
  const frame = Buffer.from([8, 0, 0, 0, 0, 1, 1, 0x11, 0]);
  frame.writeUInt16BE(height, 1);
  frame.writeUInt16BE(width, 3);
  const scan = segment(0xda, Buffer.from([1, 1, 0, 0, 63, 0]));
  const parts = [segment(0xfe, Buffer.alloc(comment, 'photo')), segment(0xc0, frame), scan];
  return Buffer.concat([START, ...parts, Buffer.from([0xff, 0xd9])]);
}

export const JPEG = jpegOf(240, 200);

/** The size of a camera's picture. */
export const PHOTO = jpegOf(240, 200, 40_000);

/** The signature and the header of a PNG. */
export function pngOf(width: number, height: number): Buffer {
  const png = Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR--------\x08\0\0\0\0----', 'latin1');
  png.writeUInt32BE(width, 16);
  png.writeUInt32BE(height, 20);
  return png;
}
