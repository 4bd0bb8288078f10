import { describe, expect, it } from '@jest/globals';
import { canonicalCidrs, canonicalCallbacks, canonicalOrigins, leadsToApp } from './allow-lists.service.js';

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
  ])('converts %p to the canonical list %p', (texts, canonical) => {
    expect(canonicalCidrs(texts)).toEqual(canonical);
  });

  it.each([['example.com'], ['10.0.0.0/33'], ['10.1'], ['::1/129'], ['']])('refuses %p', (text) => {
    expect(() => canonicalCidrs([text])).toThrow(expect.objectContaining({ code: 'validation_failed' }));
  });
});

describe('the list of origins that may embed a page', () => {
  it.each([
    [['https://shop.example'], ['https://shop.example']],
    [['HTTPS://Shop.Example:443/', 'https://shop.example'], ['https://shop.example']],
    [
      ['https://shop.example:8443', ' https://a.shop.example '],
      ['https://a.shop.example', 'https://shop.example:8443'],
    ],
    [['https://bücher.example'], ['https://xn--bcher-kva.example']],
    [['https://intranet1'], ['https://intranet1']],
    [[], []],
  ])('converts %p to the canonical list %p', (texts, canonical) => {
    expect(canonicalOrigins(texts, 'production')).toEqual(canonical);
  });

  const REFUSED = [
    'shop.example',
    'http://shop.example',
    'https://*.shop.example',
    '*',
    "'self'",
    'null',
    'https:\\\\shop.example',
    'https://shop.example/pay',
    'https://shop.example#x',
    'https://ada@shop.example',
    'https://shop.example.',
    'https://shop_1.example',
    "https://shop.example;script-src'unsafe-inline'",
    'https://shop.example https://evil.example',
    'https://sh\top.example',
    'https://203.0.113.7',
    'https://[2001:db8::1]',
    'https://shop.example:99999',
    '',
  ];
  it.each([...REFUSED, 'http://localhost.evil.example', 'http://10.0.0.1'])('refuses %j', (text) => {
    for (const mode of ['sandbox', 'production'] as const)
      expect(() => canonicalOrigins([text], mode)).toThrow('is not an origin such as');
  });

  it('accepts http on loopback only in the sandbox', () => {
    const origins = ['http://127.0.0.1:8080', 'http://localhost', 'http://localhost:3000'];
    expect(canonicalOrigins(origins, 'sandbox')).toEqual(origins);
    expect(() => canonicalOrigins(origins, 'production')).toThrow('is not an origin such as');
  });

  it('has at most twenty origins', () => {
    const origins = Array.from({ length: 21 }, (_, i) => `https://shop${i}.example`);
    expect(canonicalOrigins([...origins.slice(1), origins[1]!], 'production')).toHaveLength(20);
    expect(() => canonicalOrigins(origins, 'production')).toThrow('at most 20');
  });
});

describe('the allowed callback address of a page', () => {
  it('is an origin or the scheme of an app', () => {
    const targets = ['ShopApp:', 'com.example.app:', 'https://Shop.example', 'shopapp:'];
    expect(canonicalCallbacks(targets)).toEqual(['com.example.app:', 'https://shop.example', 'shopapp:']);
  });

  it.each([
    'https:',
    'http:',
    'javascript:',
    'JavaScript:',
    'data:',
    'vbscript:',
    'file:',
    'blob:',
    'intent:',
    'shopapp',
    'shopapp://',
    'shopapp://done',
    '1app:',
    'shop app:',
    ':',
    'http://localhost:3000',
    'https://shop.example/done',
    'https://*.shop.example',
    '',
  ])('cannot be %j', (text) => {
    expect(() => canonicalCallbacks([text])).toThrow(expect.objectContaining({ code: 'validation_failed' }));
  });

  it('leads to an app with the scheme shopapp:, but not with javascript: or https:', () => {
    expect(['shopapp:', 'javascript:', 'https:'].map(leadsToApp)).toEqual([true, false, false]);
  });
});
