import { describe, expect, it } from '@jest/globals';
import { parseJsonBody } from './json-body.js';

describe('a JSON body', () => {
  it('is parsed, escapes included', () => {
    expect(parseJsonBody(Buffer.from('{"a":"\\u00e9","constructor":1}'))).toEqual({ a: 'é', constructor: 1 });
  });

  it.each([
    '{"__proto__":{}}',
    '{"a":[{"__proto__":1}]}',
    '{"\\u005f_proto__":{}}',
    '{"__pr\\u006fto__":{}}',
    '{"constructor":{"prototype":{}}}',
    '{"constructor":{"pr\\u006ftotype":{}}}',
    '{"c\\u006fnstructor":{"\\u0070rototype":{}}}',
  ])('with a key that changes prototypes is refused: %s', (text) => {
    expect(() => parseJsonBody(Buffer.from(text))).toThrow('a key that is not allowed');
  });
});
