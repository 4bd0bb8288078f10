import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { readConfig } from '../../../composition.js';
import { ComplianceNotices } from './compliance-notices.service.js';
import { exchangeConfig } from '../exchange.config.js';

const notices = new Map([['IR', 'Not offered in Iran.']]);
const noticesWith = (exchangeCountriesFile: string | null) =>
  new ComplianceNotices({ ...exchangeConfig({}), exchangeNoticesFile: notices, exchangeCountriesFile });
const shipped = noticesWith(null);
/** An address of a network in Iran. */
const THERE = '185.143.234.1';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'notices-'));
});
afterAll(() => rm(folder, { recursive: true }));

describe('the compliance notice for a client address', () => {
  it.each([THERE, `::ffff:${THERE}`])('is the notice for the country of the address: %s', (address) =>
    expect(shipped.of(address)).toBe('Not offered in Iran.'),
  );

  it.each(['8.8.8.8', '127.0.0.1', '::1', 'fe80::1%eth0', '::', '', '185.143.234.1 ', '2002:b98f:ea01::1'])(
    'is null for a malformed or private address and for a country without a notice: %j',
    (address) => expect(shipped.of(address)).toBeNull(),
  );
});

describe('an unreadable file of countries', () => {
  it.each([
    ['is missing', null],
    ['is empty', ''],
    ['has another format', '{"8.8.8.8": "US"}'.repeat(1000)],
  ])('is logged once and gives no notices when it %s', async (_, content) => {
    const path = join(folder, `${Math.random()}.mmdb`);
    if (content !== null) await writeFile(path, content);
    const errors = jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
    const unreadable = noticesWith(path);
    for (let i = 0; i < 3; i += 1) expect(unreadable.of(THERE)).toBeNull();
    const msg = 'notices by country disabled: the file of countries cannot be read';
    expect(errors.mock.calls).toEqual([[expect.objectContaining({ msg })]]);
    errors.mockRestore();
  });
});

describe('a file of notices', () => {
  const read = async (content: string) => {
    const path = join(folder, 'notices.json');
    await writeFile(path, content);
    return readConfig({ EXCHANGE_NOTICES_FILE: path }).exchangeNoticesFile;
  };

  it('is read, and white space around each notice is removed', async () =>
    expect(await read('{"DE": " Nicht in Deutschland.\\n ", "IR": "می‌\\nشود"}')).toEqual(
      new Map([
        ['DE', 'Nicht in Deutschland.'],
        ['IR', 'می‌\nشود'],
      ]),
    ));

  it.each([
    ['no JSON', '{', /EXCHANGE_NOTICES_FILE must be a JSON file of notices by country/],
    ['an array', '[]', /the file must hold an object/],
    ['a country in lower case', '{"de": "x"}', /"de" is no country code/],
    ['a notice that is no text', '{"DE": 1}', /the notice for DE is no text/],
    ['an empty notice', '{"DE": " "}', /the notice for DE is no text/],
    ['a long notice', JSON.stringify({ DE: 'ü'.repeat(501) }), /more than 500 characters/],
  ])('stops the boot with a message when it contains %s', async (_, content, message) =>
    expect(read(content)).rejects.toThrow(message),
  );

  it('stops the boot when it is missing', () =>
    expect(() => readConfig({ EXCHANGE_NOTICES_FILE: join(folder, 'gone.json') })).toThrow(
      /EXCHANGE_NOTICES_FILE must be .*ENOENT/,
    ));
});
