import { describe, expect, it } from '@jest/globals';
import { Fault } from '../../../kernel/fault.js';
import { readReturnUrl } from './return-url.js';

const LONGEST = `https://shop.example/${'a'.repeat(2048 - 21)}`;

describe('where a pay page leads back to', () => {
  it.each(['https://shop.example', 'https://shop.example:8443/a?b=c#d', 'https://шоп.example/ü', LONGEST])(
    '%.60s',
    (text) => {
      expect(readReturnUrl(text, 'production')).toBe(text);
    },
  );

  it.each(['http://localhost', 'http://localhost:3000/done?a=b', 'http://127.0.0.1:3000/'])(
    '%s, in the sandbox alone',
    (text) => {
      expect(readReturnUrl(text, 'sandbox')).toBe(text);
      expect(readReturnUrl(text, 'production')).toBeInstanceOf(Fault);
    },
  );

  it.each([
    ...['', 'shop.example', '/done', '//shop.example', 'https:', 'https://', 'https:shop.example'],
    ...['javascript:alert(1)', 'data:text/html,x', 'ftp://shop.example', 'http://shop.example'],
    ...['http://localhost.evil.example', 'https://user@shop.example', 'https://user:pw@shop.example'],
    ...['https://shop.example/a b', 'https://shop.example/\n', 'https://shop.example\\@evil.example'],
    ...[' https://shop.example', `${LONGEST}a`, `https://shop.example/${'ü'.repeat(1100)}`],
  ])('never %j', (text) => {
    expect(readReturnUrl(text, 'sandbox')).toBeInstanceOf(Fault);
  });

  it('nowhere, unless it is given', () => expect(readReturnUrl(null, 'production')).toBeNull());
});
