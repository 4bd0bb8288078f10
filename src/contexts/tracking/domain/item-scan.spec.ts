import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { jsonValue } from '../../../../test/support/event-batches.js';
import { scanItems } from './item-scan.js';

const scan = (text: string, most: number) => scanItems(Buffer.from(text), most);

describe('the scan of a body for items', () => {
  it.each([
    ['{"events":[]}', 0],
    ['{"events":[1]}', 1],
    [' \n{ "events" :\t[ 1 , "2,3" , [4,5] , {"a":[6,7]} ] } ', 4],
    ['{"a":[1,2,3],"events":[1],"b":{"events":[1,2,3,4]}}', 1],
    ['{"a":"events","b":["events",[1,2,3]],"events":[1,2]}', 2],
    ['{"events":{"events":[1,2,3]}}', 0],
    ['{"events":"[1,2,3]"}', 0],
    ['{"events":null,"other":[1,2,3]}', 0],
    ['[{"events":[1,2,3]}]', 0],
    ['[1,2,3]', 0],
    ['"events"', 0],
    ['{"Events":[1,2,3],"event":[1,2,3],"events ":[1,2,3]}', 0],
    [String.raw`{"\u0065vents":[1,2]}`, 2],
    [String.raw`{"\u0065\u0076\u0065\u006e\u0074\u0073":[1,2,3]}`, 3],
    [String.raw`{"events\"":[1,2],"e\\vents":[1,2,3]}`, 0],
    [String.raw`{"a":"\"events\":[1,2,3]","b\\":[1],"events":[1]}`, 1],
    [String.raw`{"events":["],[\"",",,","\\"]}`, 3],
    ['{"events":[[1,2],[3,4]],"x":[1,2,3]}', 2],
    ['{"events":[1,2,3],"events":[1]}', 3],
    ['{"events":[1],"events":[1,2]}', 2],
    ['{"\u00e9vents":[1,2],"\ud83d\ude00":[1]}', 0],
  ])('%s: %d', (text, items) => {
    JSON.parse(text);
    expect(scan(text, items + 1).tooMany).toBe(false);
    if (items > 0) expect(scan(text, items).tooMany).toBe(false);
    if (items > 1) expect(scan(text, items - 1).tooMany).toBe(true);
  });

  it('reads nothing after the first too many', () => {
    const bytes = new Proxy(Buffer.from(`{"events":[1,2,3${',4'.repeat(1000)}]}`), {
      get(target, name) {
        if (Number(name) > 20) throw new Error(`byte ${String(name)} was read`);
        return Reflect.get(target, name, target) as unknown;
      },
    });
    expect(scanItems(bytes, 3).tooMany).toBe(true);
    expect(() => scanItems(bytes, 9)).toThrow('was read');
  });

  it('agrees with JSON.parse, however the text is written', () => {
    const events = fc.array(jsonValue, { maxLength: 8 });
    const root = fc.array(
      fc.oneof(
        fc.tuple(fc.constantFrom('events', '\\u0065vents', 'event\\u0073'), fc.oneof(events, jsonValue)),
        fc.tuple(
          fc.string({ maxLength: 8 }).map((key) => JSON.stringify(key).slice(1, -1)),
          jsonValue,
        ),
        fc.tuple(fc.constantFrom('a', '\\"events', 'x\\\\'), fc.record({ events })),
      ),
      { maxLength: 4 },
    );
    fc.assert(
      fc.property(
        root,
        fc.constantFrom(undefined, 1, '\t', ' \r\n'),
        fc.integer({ min: 1, max: 9 }),
        (members, indent, most) => {
          const texts = members.map(([key, value]) => `"${key}" :${JSON.stringify(value, null, indent)}`);
          const longest = members
            .filter(([key, value]) => JSON.parse(`"${key}"`) === 'events' && Array.isArray(value))
            .reduce((found, [, value]) => Math.max(found, (value as unknown[]).length), 0);
          const text = ` {${texts.join(' , ')}}\n`;
          const parsed = JSON.parse(text) as unknown;
          const { tooMany, depth } = scan(text, most);
          expect(tooMany).toBe(longest > most);
          if (
            texts.length === new Set(members.map(([key]) => JSON.parse(`"${key}"`) as string)).size &&
            !tooMany
          )
            expect(depth).toBe(depthOf(parsed));
        },
      ),
      { numRuns: 3000 },
    );
  });

  it('says something of anything', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => expect(scanItems(bytes, 2)).toBeDefined()),
    );
    const broken = fc.array(
      fc.constantFrom('{', '}', '[', ']', '"', '\\', ',', ':', 'events', '"events"', ' ', '1'),
      {
        maxLength: 40,
      },
    );
    fc.assert(fc.property(broken, (parts) => expect(scan(parts.join(''), 2)).toBeDefined()));
  });
});

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}
