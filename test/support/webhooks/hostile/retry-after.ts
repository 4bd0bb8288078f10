import { responded, receiver, says, type HostileReceiver } from './receiver.js';

/** Fields of Retry-After as a receiver sends them, and what the sender hands on to the schedule. */
const FIELDS: readonly (readonly [name: string, fields: readonly string[], handedOn?: string])[] = [
  ['seconds', ['120']],
  ['zero', ['0']],
  ['blanks around seconds', ['  7  '], '7  '],
  ['less than zero', ['-5']],
  ['a fraction', ['1.5']],
  ['an exponent', ['1e9']],
  ['hexadecimal digits', ['0x10']],
  ['more than any number holds', ['9'.repeat(400)]],
  ['a date of RFC 1123', ['Sun, 06 Nov 2044 08:49:37 GMT']],
  ['a date of RFC 850', ['Sunday, 06-Nov-44 08:49:37 GMT']],
  ['a date of asctime', ['Sun Nov  6 08:49:37 2044']],
  ['a date that is past', ['Sun, 06 Nov 1994 08:49:37 GMT']],
  ['a date that does not exist', ['Sun, 31 Feb 2044 08:49:37 GMT']],
  ['a date of ISO 8601', ['2044-11-06T08:49:37Z']],
  ['words', ['soon']],
  ['nothing', [''], ''],
  ['bytes beyond ASCII', ['\xff\xfe']],
  ['two fields', ['60', '3600'], '60'],
  ['a list', ['60, 3600']],
];

/** Refusals that say when to come again, in every form there is. */
export const RETRY_AFTER: readonly HostileReceiver[] = [
  receiver('410 Gone', responded(410), says('HTTP/1.1 410 Gone\r\ncontent-length: 0\r\n\r\n')),
  ...FIELDS.map(([name, fields, handedOn = fields[0]!], index) => {
    const status = index % 2 === 0 ? 429 : 503;
    const lines = fields.map((field) => `retry-after: ${field}\r\n`).join('');
    return receiver(
      `${status} with Retry-After: ${name}`,
      responded(status, handedOn),
      says(`HTTP/1.1 ${status} Later\r\n${lines}content-length: 0\r\n\r\n`),
    );
  }),
];
