import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  measureDepth,
  eachElement,
  eachMember,
  endOfValue,
  memberText,
  readString,
  withJsonText,
} from './json-text.js';

const PATH = ['payout', 'custom_metadata'];

describe('the text of a JSON member', () => {
  it.each([
    ['a large integer', '{"n":12345678901234567890123}'],
    ['escapes and key order', '{"b":"\\u0000\\ud800","a":1,"10":2,"9":1}'],
    ['inner white space', '{ "a" :\n [ 1 , 2 ]\t}'],
    ['braces and quotes in strings', '{"a":"}\\"{","]":"\\\\"}'],
    ['an empty object', '{}'],
    ['a value that is no object', 'null'],
    ['a number before a closing brace', '-1.5e+3'],
    ['a string', '"a,b}"'],
  ])('retains %s', (_name, metadata) => {
    const body = `{"user_id":"u","payout":{"amount":"1","custom_metadata":${metadata},"z":[{}]},"x":"}"}`;
    JSON.parse(body);
    expect(memberText(body, PATH)).toBe(metadata);
    const spaced = ` {\n"payout" : { "custom_metadata" : ${metadata} } }`;
    JSON.parse(spaced);
    expect(memberText(spaced, PATH)).toBe(metadata);
  });

  it('is found after a byte order mark', () => {
    expect(memberText('\ufeff{"payout":{"custom_metadata":{"a":1}}}', PATH)).toBe('{"a":1}');
  });

  it('is found if its key is written with escapes', () => {
    expect(memberText('{"pay\\u006fut":{"custom_m\\u0065tadata":{"a":1}}}', PATH)).toBe('{"a":1}');
  });

  it('is the text of the last occurrence if a key is repeated', () => {
    const body = '{"payout":{"custom_metadata":1},"payout":{"custom_metadata":2,"custom_metadata":3}}';
    expect(memberText(body, PATH)).toBe('3');
    expect(memberText('{"payout":{"custom_metadata":1},"payout":{}}', PATH)).toBeUndefined();
  });

  it.each([
    ...['{}', '{"payout":null}', '{"payout":[]}', '{"payout":"{}"}', '{"custom_metadata":{}}'],
    '{"payout":{}}',
  ])('is undefined if the body is %s', (body) => expect(memberText(body, PATH)).toBeUndefined());

  it('has the value that JSON.parse returns for the member, among any other members', () => {
    fc.assert(
      fc.property(
        fc.json(),
        fc.json(),
        fc.string(),
        fc.constantFrom(0, 1, 4),
        (metadata, other, key, indent) => {
          const before = {
            [`${key}-`]: JSON.parse(other) as unknown,
            custom_metadata: JSON.parse(metadata) as unknown,
          };
          const body = JSON.stringify(
            { other: [before], payout: { ...before, z: before }, end: key },
            null,
            indent,
          );
          const text = memberText(body, PATH);
          expect(JSON.parse(text!)).toEqual(before.custom_metadata);
          expect(body).toContain(text!);
        },
      ),
    );
  });
});

describe('the depth of a JSON text', () => {
  it.each([
    ['1', 0],
    ['"[[["', 0],
    ['{}', 1],
    ['{"a":[]}', 2],
    ['{"a":{},"b":{}}', 2],
    ['{"\\"":[[1],{"}":"{"}]}', 3],
  ])('of %s is %d', (json, depth) => expect(measureDepth(json)).toBe(depth));

  it('is measured without recursion, so that no text overflows the stack', () => {
    expect(measureDepth('['.repeat(100_000) + ']'.repeat(100_000))).toBe(100_000);
  });
});

describe('the visitors of members and elements', () => {
  /** Rebuilds the text from the calls of the visitors. */
  const again = (json: string, at = 0): string => {
    const parts: string[] = [];
    if (json[at] === '{') {
      eachMember(json, at, (key, start) => {
        parts.push(`${JSON.stringify(key)}:${again(json, start)}`);
        return endOfValue(json, start);
      });
      return `{${parts.join()}}`;
    }
    if (json[at] === '[') {
      eachElement(json, at, (start) => {
        parts.push(again(json, start));
        return endOfValue(json, start);
      });
      return `[${parts.join()}]`;
    }
    const end = endOfValue(json, at);
    return json[at] === '"' ? JSON.stringify(readString(json, at, end)) : json.slice(at, end);
  };

  it('visit what JSON.parse returns, however the text is indented', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(undefined, 1, '\t', ' \r\n'), (value, indent) => {
        const json = JSON.stringify(value, null, indent);
        expect(JSON.parse(again(json))).toEqual(JSON.parse(json));
      }),
    );
  });

  it('terminate for any text, even if it is not JSON', () => {
    const pieces = fc.array(
      fc.constantFrom('{', '}', '[', ']', '"', '\\', ',', ':', '"events"', ' ', '1', '\ufeff'),
      { maxLength: 40 },
    );
    fc.assert(
      fc.property(pieces, (parts) => {
        const json = parts.join('');
        let visits = 0;
        const skip = (start: number): number => {
          visits += 1;
          return endOfValue(json, start);
        };
        for (let at = 0; at < json.length; at += 1) {
          visits = 0;
          eachElement(json, at, skip);
          expect(visits).toBeLessThanOrEqual(json.length);
        }
      }),
    );
  });
});

it('withJsonText adds a member whose text remains byte for byte as it was sent', () => {
  const sent = '{"big":12345678901234567890, "b":1.0,"a":"\\u0000\\ud800","a":2}';
  expect(withJsonText({ payout_id: 'p' }, 'custom_metadata', sent)).toBe(
    `{"payout_id":"p","custom_metadata":${sent}}`,
  );
});
