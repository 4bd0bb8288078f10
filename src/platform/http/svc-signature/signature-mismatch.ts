import { Readable } from 'node:stream';
import { PROBLEM_TYPE, problemJson } from '../problem.js';

const MISMATCH = 'svc-signature does not match the request';
const LOWER_CASE = `${MISMATCH}: it must be lower-case hex, and this one is upper-case`;
const LABEL = 'StringToSignBytes (hex, space-separated, lower-case):';

/** Signed bytes that become text at a time: a megabyte as integers is four, and no response holds more than a piece. */
const PIECE_BYTES = 16_384;

const COMMA = 0x2c;
const SPACE = 0x20;
const ZERO = 0x30;
const HEX = Buffer.from('0123456789abcdef');

/** The response to a wrong signature: its bytes as they are sent, in pieces. */
export interface Mismatch {
  readonly contentType: string;
  readonly payload: string | Readable;
}

/** The bytes that the server signed, as an array of integers in a problem or, for `Accept: text/plain`, as hex. */
export function signatureMismatch(
  signature: string,
  prefix: string,
  body: Buffer,
  asText: boolean,
): Mismatch {
  const detail = /^[0-9A-F]{64}$/.test(signature) && /[A-F]/.test(signature) ? LOWER_CASE : MISMATCH;
  const signed = [Buffer.from(prefix, 'utf8'), body];
  const pieces = asText ? textPieces(detail, signed) : problemPieces(detail, signed);
  const small = body.length <= PIECE_BYTES;
  return {
    contentType: asText ? 'text/plain; charset=utf-8' : PROBLEM_TYPE,
    payload: small ? [...pieces].join('') : Readable.from(pieces, { objectMode: false }),
  };
}

function* problemPieces(detail: string, signed: readonly Buffer[]): Generator<string | Buffer> {
  const problem = problemJson({ status: 401, detail, members: { string_to_sign_bytes: [] } });
  yield problem.slice(0, -2);
  yield* joined(signed, writeInteger, COMMA);
  yield problem.slice(-2);
}

function* textPieces(detail: string, signed: readonly Buffer[]): Generator<string | Buffer> {
  yield `${detail}\n${LABEL}\n`;
  yield* joined(signed, writeHex, SPACE);
}

/** The bytes as text, with the separator between any two. */
function* joined(
  buffers: readonly Buffer[],
  write: (byte: number, text: Buffer, at: number) => number,
  separator: number,
): Generator<Buffer> {
  let first = true;
  for (const bytes of buffers) {
    for (let from = 0; from < bytes.length; from += PIECE_BYTES) {
      const piece = bytes.subarray(from, from + PIECE_BYTES);
      const text = Buffer.allocUnsafe(piece.length * 4);
      let at = 0;
      for (const byte of piece) {
        if (!first) text[at++] = separator;
        first = false;
        at = write(byte, text, at);
      }
      yield text.subarray(0, at);
    }
  }
}

function writeInteger(byte: number, text: Buffer, at: number): number {
  if (byte >= 100) text[at++] = ZERO + Math.floor(byte / 100);
  if (byte >= 10) text[at++] = ZERO + (Math.floor(byte / 10) % 10);
  text[at++] = ZERO + (byte % 10);
  return at;
}

function writeHex(byte: number, text: Buffer, at: number): number {
  text[at++] = HEX[byte >> 4]!;
  text[at++] = HEX[byte & 15]!;
  return at;
}

/** Whether the client would rather have text/plain than JSON: JSON wins a tie and is the default. */
export function prefersText(accept: string | undefined): boolean {
  if (accept === undefined || !/text\//i.test(accept)) return false;
  let text = 0;
  let json = 0;
  for (const part of accept.split(',')) {
    const [type = '', ...parameters] = part.split(';').map((each) => each.trim().toLowerCase());
    const weight = parameters.find((each) => each.startsWith('q='));
    const quality = weight === undefined ? 1 : Number(weight.slice(2)) || 0;
    if (type === 'text/plain' || type === 'text/*') text = Math.max(text, quality);
    if (/^application\/(json|problem\+json|\*)$/.test(type)) json = Math.max(json, quality);
  }
  return text > json;
}
