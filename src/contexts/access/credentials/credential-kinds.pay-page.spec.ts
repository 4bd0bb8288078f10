import { describe, expect, it } from '@jest/globals';
import { checkPage, toLogo, NO_PAGE_SETTINGS } from './credential-kinds.js';

const PNG = Buffer.from('\x89PNG\r\n\x1a\nrest', 'latin1');
const WEBP = Buffer.from('RIFF\0\0\0\0WEBPrest', 'latin1');
const large = (bytes: Buffer, length = 16_385): Buffer =>
  Buffer.concat([bytes, Buffer.alloc(length)], length);

const refused = (fields: object) => expect.objectContaining({ code: 'validation_failed', fields });
const WRONG_LOGO = refused({ logo: ['must be a PNG or WebP of at most 16 KiB'] });

describe('the logo of a pay page', () => {
  it.each([
    ['PNG', PNG, 'png'],
    ['WebP', WEBP, 'webp'],
    ['PNG of 16 KiB', large(PNG, 16_384), 'png'],
  ])('becomes a valid data: URL if it is a %s', (_what, bytes, type) => {
    const logo = toLogo(bytes);
    expect(logo).toBe(`data:image/${type};base64,${bytes.toString('base64')}`);
    expect(() => checkPage({ ...NO_PAGE_SETTINGS, logo })).not.toThrow();
  });

  it.each([
    ['an SVG', toLogo(Buffer.from('<svg/>'))],
    ['empty', toLogo(Buffer.alloc(0))],
    ['more than 16 KiB', toLogo(large(PNG))],
    ['another RIFF file', toLogo(Buffer.from('RIFF\0\0\0\0WAVErest', 'latin1'))],
    ['a WebP without its RIFF header', toLogo(Buffer.from('XIFF\0\0\0\0WEBPrest', 'latin1'))],
    ['declared as another type than its bytes', `data:image/webp;base64,${PNG.toString('base64')}`],
    ['an SVG by its media type', `data:image/svg+xml;base64,${Buffer.from('<svg/>').toString('base64')}`],
    ['a URL of another site', 'https://example.com/logo.png'],
    ['a data URL with other text after it', `${toLogo(PNG)} "`],
    ['a data URL with other text before it', ` ${toLogo(PNG)}`],
  ])('is refused when it is %s', (_what, logo) => {
    expect(() => checkPage({ ...NO_PAGE_SETTINGS, logo })).toThrow(WRONG_LOGO);
  });
});

describe('the links of a pay page', () => {
  const longest = `https://example.com/${'a'.repeat(2028)}`;

  it('begin with https:// and have at most 2,048 characters', () => {
    expect(longest).toHaveLength(2048);
    const page = { logo: null, help_url: longest, terms_url: 'https://example.com' };
    expect(() => checkPage(page)).not.toThrow();
    expect(() => checkPage(NO_PAGE_SETTINGS)).not.toThrow();
  });

  it.each([`${longest}a`, 'http://example.com', 'javascript:alert(1)', 'example.com', ''])(
    'cannot be "%s"',
    (url) => {
      const words = ['must be a URL that begins with https:// and has at most 2048 characters'];
      for (const name of ['help_url', 'terms_url'])
        expect(() => checkPage({ ...NO_PAGE_SETTINGS, [name]: url })).toThrow(refused({ [name]: words }));
    },
  );
});
