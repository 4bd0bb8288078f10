import { describe, expect, it } from '@jest/globals';
import { canonicalCidrs } from './ip-allow-list.js';

describe('an allow list', () => {
  it.each([
    [['203.0.113.7'], ['203.0.113.7/32']],
    [['203.0.113.7/24', '203.0.113.0/24'], ['203.0.113.0/24']],
    [['2001:DB8::1'], ['2001:db8::1/128']],
    [
      ['2001:db8:0:0::1/32', ' 10.1.2.3/8 '],
      ['10.0.0.0/8', '2001:db8::/32'],
    ],
    [[], []],
  ])('keeps %p as %p', (texts, canonical) => {
    expect(canonicalCidrs(texts)).toEqual(canonical);
  });

  it.each([['example.com'], ['10.0.0.0/33'], ['10.1'], ['::1/129'], ['']])('refuses %p', (text) => {
    expect(() => canonicalCidrs([text])).toThrow(expect.objectContaining({ code: 'validation_failed' }));
  });
});
