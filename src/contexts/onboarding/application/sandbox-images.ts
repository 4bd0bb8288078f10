import { crc32, deflateSync } from 'node:zlib';
import { REQUIRED_IMAGES, type IdentityImage } from '../domain/identity-image.js';

/** As small as an image of a person may be. */
const SIDE = 200;
const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** What a made-up person of the sandbox hands in: grey squares. */
export function sandboxImages(): IdentityImage[] {
  const bytes = greyPng();
  return REQUIRED_IMAGES.map((kind) => ({ kind, type: 'image/png', bytes }));
}

/** PNG (third edition), 5: 8 bits of grey a pixel, each row behind a byte that says it is not filtered. */
function greyPng(): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(SIDE, 0);
  header.writeUInt32BE(SIDE, 4);
  header.writeUInt8(8, 8);
  const row = Buffer.concat([Buffer.of(0), Buffer.alloc(SIDE, 0x80)]);
  const pixels = deflateSync(Buffer.concat(Array<Buffer>(SIDE).fill(row)));
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('IDAT', pixels),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  checksum.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, checksum]);
}
