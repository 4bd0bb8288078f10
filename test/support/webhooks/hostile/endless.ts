import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { responded, failed, floods, receiver, says, type HostileReceiver } from './receiver.js';

const OK = 'HTTP/1.1 200 OK\r\n';
const CHUNKED = `${OK}transfer-encoding: chunked\r\n\r\n`;
const tooLong = failed('response', /^the response is too long$/);
const tooLarge = failed('response', /^the header of the response is too large \(UND_ERR_HEADERS_OVERFLOW\)$/);

const filled = (piece: string): Buffer =>
  Buffer.from(piece.repeat(Math.ceil(65_536 / piece.length)), 'latin1');

/** Says the head of a response with this encoding and length, then these bytes. */
function encoded(encoding: string, body: Buffer): Buffer {
  return Buffer.concat([
    Buffer.from(`${OK}content-encoding: ${encoding}\r\ncontent-length: ${body.length}\r\n\r\n`),
    body,
  ]);
}

const MIB = Buffer.alloc(1024 * 1024);
const BOMB_MIB = 48;

/** Members of gzip follow one another: 48 MiB when unpacked, and created at once. */
const MEMBERS = Buffer.concat(Array<Buffer>(BOMB_MIB).fill(gzipSync(MIB)));
const GZIP_BOMB = encoded('gzip', MEMBERS);
const GZIP_TWICE = encoded('gzip, gzip', gzipSync(MEMBERS));
const BROTLI_BOMB = encoded(
  'br',
  brotliCompressSync(Buffer.alloc(8 * MIB.length), { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }),
);

/** Receivers that send more than anybody wants. What was read of the header counts; the rest is cut off. */
export const ENDLESS: readonly HostileReceiver[] = [
  receiver('endless body of no length', responded(200), floods(`${OK}\r\n`, filled('a'))),
  receiver(
    'endless body of a length beyond all bounds',
    responded(200),
    floods(`${OK}content-length: 9007199254740991\r\n\r\n`, filled('a')),
  ),
  receiver('endless chunks', responded(200), floods(CHUNKED, filled(`400\r\n${'a'.repeat(1024)}\r\n`))),
  receiver('endless chunks of one byte', responded(200), floods(CHUNKED, filled('1\r\na\r\n'))),
  receiver('endless chunk extension', responded(200), floods(`${CHUNKED}1;x=`, filled('a'))),
  receiver('endless zeros before the size of a chunk', responded(200), floods(CHUNKED, filled('0'))),
  receiver('endless trailer', responded(200), floods(`${CHUNKED}0\r\n`, filled('x-a: 1\r\n'))),
  receiver('endless header fields', tooLarge, floods(OK, filled('x-a: 1\r\n'))),
  receiver('one endless header field', tooLarge, floods(`${OK}x-a: `, filled('a'))),
  receiver('endless name of a header field', tooLarge, floods(OK, filled('a'))),
  receiver('endless status line', tooLong, floods('HTTP/1.1 200 ', filled('a'))),
  receiver('endless line breaks before its response', tooLong, floods('', filled('\r\n'))),
  receiver('endless informational responses', tooLong, floods('', filled('HTTP/1.1 102 Processing\r\n\r\n'))),
  receiver(
    'endless informational responses with a header',
    tooLong,
    floods('', filled(`HTTP/1.1 103 Early Hints\r\nlink: ${'a'.repeat(1000)}\r\n\r\n`)),
  ),
  receiver(
    'a header of 20 KiB',
    tooLarge,
    says(`${OK}x-a: ${'a'.repeat(20_000)}\r\ncontent-length: 0\r\n\r\n`),
  ),
  receiver(
    'a header of 2,000 fields',
    tooLarge,
    says(`${OK}${'x-abcdefg: 1\r\n'.repeat(2000)}content-length: 0\r\n\r\n`),
  ),
  receiver('gzip bomb', responded(200), says(GZIP_BOMB)),
  receiver('gzip within gzip', responded(200), says(GZIP_TWICE)),
  receiver('brotli bomb', responded(200), says(BROTLI_BOMB)),
];
