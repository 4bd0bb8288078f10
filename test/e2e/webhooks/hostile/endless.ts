import { gzipSync } from 'node:zlib';
import { responded, failed, floods, receiver, says, type HostileReceiver } from './receiver.js';

const OK = 'HTTP/1.1 200 OK\r\n';
const CHUNKED = `${OK}transfer-encoding: chunked\r\n\r\n`;
const tooLong = failed('response', /^the response is too long$/);
const tooLarge = failed('response', /^the header of the response is too large \(UND_ERR_HEADERS_OVERFLOW\)$/);

const filled = (piece: string): Buffer =>
  Buffer.from(piece.repeat(Math.ceil(65_536 / piece.length)), 'latin1');

/** 48 MiB when unpacked. */
const BOMB = gzipSync(Buffer.alloc(48 * 1024 * 1024));
const GZIP_BOMB = Buffer.concat([
  Buffer.from(`${OK}content-encoding: gzip\r\ncontent-length: ${BOMB.length}\r\n\r\n`),
  BOMB,
]);

/** Receivers with oversized responses. The header is valid as far as it was read; the rest is cut off. */
export const ENDLESS: readonly HostileReceiver[] = [
  receiver('endless body of no length', responded(200), floods(`${OK}\r\n`, filled('a'))),
  receiver('endless chunks', responded(200), floods(CHUNKED, filled(`400\r\n${'a'.repeat(1024)}\r\n`))),
  receiver('endless chunk extension', responded(200), floods(`${CHUNKED}1;x=`, filled('a'))),
  receiver('endless trailer', responded(200), floods(`${CHUNKED}0\r\n`, filled('x-a: 1\r\n'))),
  receiver('endless header fields', tooLarge, floods(OK, filled('x-a: 1\r\n'))),
  receiver('one endless header field', tooLarge, floods(`${OK}x-a: `, filled('a'))),
  receiver('endless status line', tooLong, floods('HTTP/1.1 200 ', filled('a'))),
  receiver('endless line breaks before its response', tooLong, floods('', filled('\r\n'))),
  receiver('endless informational responses', tooLong, floods('', filled('HTTP/1.1 102 Processing\r\n\r\n'))),
  receiver(
    'a header of 2,000 fields',
    tooLarge,
    says(`${OK}${'x-abcdefg: 1\r\n'.repeat(2000)}content-length: 0\r\n\r\n`),
  ),
  receiver('gzip bomb', responded(200), says(GZIP_BOMB)),
];
