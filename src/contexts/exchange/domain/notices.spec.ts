import { describe, expect, it } from '@jest/globals';
import { readNotices } from './notices.js';

describe('notices by country', () => {
  it('are read from an object, without the space around them', () => {
    expect(readNotices({ DE: ' Not offered.\nSorry. ', FR: '🦀'.repeat(500) })).toEqual(
      new Map([
        ['DE', 'Not offered.\nSorry.'],
        ['FR', '🦀'.repeat(500)],
      ]),
    );
    expect(readNotices({}).size).toBe(0);
  });

  it.each([
    ['null', null, 'it must hold an object of notices by country'],
    ['a text', 'DE', 'it must hold an object of notices by country'],
    ['a list', ['DE'], 'it must hold an object of notices by country'],
    ['a lower-case country', { de: 'x' }, '"de" is no country code such as DE'],
    ['a longer country', { DEU: 'x' }, '"DEU" is no country code such as DE'],
    ['a country with more before it', { xDE: 'x' }, '"xDE" is no country code such as DE'],
    ['a number', { DE: 7 }, 'the notice for DE is no text'],
    ['an empty text', { DE: '  ' }, 'the notice for DE is no text'],
    ['501 characters', { DE: 'a'.repeat(501) }, 'the notice for DE has more than 500 characters'],
    ['a tab', { DE: 'a\tb' }, 'the notice for DE holds control characters'],
    ['half a surrogate pair', { DE: 'a\ud83e' }, 'the notice for DE holds control characters'],
  ])('are refused as %s', (_what, value, why) => {
    expect(() => readNotices(value)).toThrow(new Error(why));
  });
});
