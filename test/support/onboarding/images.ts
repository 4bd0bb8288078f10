import { crc32, deflateSync } from 'node:zlib';

/** A photograph as a browser saves it: baseline, 240 by 200. */
export const JPEG = Buffer.from(
  [
    '/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDABsSFBcUERsXFhceHBsgKEIrKCUlKFE6PTBCYFVlZF9VXVtqeJmBanGQc1tdhbWGkJ6j',
    'q62rZ4C8ybqmx5moq6T/2wBDARweHigjKE4rK06kbl1upKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSk',
    'pKSkpKSkpKT/wAARCADIAPADASIAAhEBAxEB/8QAGAABAQEBAQAAAAAAAAAAAAAAAAMFBAL/xAAlEAEAAAMIAwADAAAAAAAAAAAA',
    'AQSiAhQVNFNjgeEDEbETMUH/xAAUAQEAAAAAAAAAAAAAAAAAAAAA/8QAFBEBAAAAAAAAAAAAAAAAAAAAAP/aAAwDAQACEQMRAD8A',
    '9AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA4MS2',
    'augd44MS2aujEtmroHeODEtmroxLZq6B3jgxLZq6MS2augd44MS2aujEtmroHeODEtmroxLZq6B3jx4PL+bw2fJ69e/57ewAAAAA',
    'AAAAAAAAAAAGC3mCAAAAAAAAAADXkMpY5+xXQkMpY5+xXAAAAAAAAAAAAAAAAAYLeYIAAAAAAAAAANeQyljn7FdCQyljn7FcAAAA',
    'AAAAAAAAAAAABgt5ggAAAAAAAAAA15DKWOfsV0JDKWOfsVwAAAAAAAAAAAAAAAAGC3mCAAAAAAAAAADXkMpY5+xXQkMpY5+xXAAA',
    'AAAAAAAAAAAAAAQuUvp1RXAQuUvp1RLlL6dUVwELlL6dUS5S+nVFcBC5S+nVEuUvp1RXAQuUvp1RLlL6dUVwELlL6dUS5S+nVFcB',
    '58diz47ELFiHqzD9QegAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
    'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAB/9k=',
  ].join(''),
  'base64',
);

/** The same with other dimensions in its frame. */
export function jpegOf(width: number, height: number): Buffer {
  const jpeg = Buffer.from(JPEG);
  const frame = jpeg.indexOf(Buffer.from([0xff, 0xc0]));
  jpeg.writeUInt16BE(height, frame + 5);
  jpeg.writeUInt16BE(width, frame + 7);
  return jpeg;
}

export function segment(marker: number, data: Buffer | string): Buffer {
  const bytes = Buffer.from(data);
  const head = Buffer.from([0xff, marker, 0, 0]);
  head.writeUInt16BE(bytes.length + 2, 2);
  return Buffer.concat([head, bytes]);
}

/** As large as a camera's picture. */
export const PHOTO = Buffer.concat([
  JPEG.subarray(0, 2),
  segment(0xfe, Buffer.alloc(40_000)),
  JPEG.subarray(2),
]);

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

export const pngWith = (...chunks: readonly (readonly [type: string, data: Buffer])[]): Buffer =>
  Buffer.concat([SIGNATURE, ...chunks.map(([type, data]) => chunk(type, data))]);

export function pngOf(width: number, height: number): Buffer {
  const pixels = deflateSync(Buffer.alloc(Math.min((width + 1) * height, 1_000_000), 128));
  return pngWith(headerOf(width, height), ['IDAT', pixels], ['IEND', Buffer.alloc(0)]);
}

export function headerOf(width: number, height: number): [type: string, data: Buffer] {
  const data = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0]);
  data.writeUInt32BE(width, 0);
  data.writeUInt32BE(height, 4);
  return ['IHDR', data];
}

function chunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, crc] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  crc.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, crc]);
}
