import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { batchOf, eventItem, validItem } from '../../../../test/support/tracking/event-batches.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { readItems } from './batch-items.store.js';
import { toItem, type ValidItem } from './event-batch.js';
import { readBatch } from './events.controller.js';

const read = (body: string | Buffer): number | string => {
  try {
    return readBatch(Buffer.from(body as string));
  } catch (error) {
    if (error instanceof DomainError) return `${error.code}: ${error.message}`;
    throw error;
  }
};
const items = (count: number) => Array.from({ length: count }, () => eventItem());

describe('the body of a batch', () => {
  it('is valid in every JSON spelling of valid items', () => {
    const batch = fc.array(validItem, { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(batch, fc.constantFrom(undefined, 1, '\t'), fc.boolean(), (events, indent, ascii) => {
        const mark = ascii ? '' : '\ufeff';
        const text = mark + JSON.stringify({ sent_by: 'x', events, more: [1] }, null, indent);
        const body = ascii ? escaped(text) : text;
        expect(read(body)).toBe(events.length);
        expectReadBack(body);
      }),
      { numRuns: 500 },
    );
  });

  it('with random changes is refused as invalid JSON exactly if JSON.parse throws', () => {
    const change = fc.record({
      at: fc.double({ min: 0, max: 1, noNaN: true }),
      cut: fc.nat(3),
      insert: fc.oneof(
        fc.constantFrom('"', '\\', '{', '}', '[', ']', ',', ':', '-', '.', 'E5', '\u0000', '\\u00', '\\x'),
        fc.constantFrom('null', '"event_id":1,', '"\\u0065vent_id":"x",', '{}', '[]', '00', '1.', '+1'),
        fc.string({ maxLength: 2 }),
      ),
    });
    const batch = fc.array(validItem, { minLength: 1, maxLength: 2 });
    fc.assert(
      fc.property(batch, fc.array(change, { minLength: 1, maxLength: 2 }), (events, changes) => {
        let text = batchOf(events);
        for (const { at, cut, insert } of changes) {
          const index = Math.floor(at * text.length);
          text = text.slice(0, index) + insert + text.slice(index + cut);
        }
        const outcome = read(text);
        if (!isJson(text)) expect(outcome).toBe('bad_request: The request body is not valid JSON');
        else if (typeof outcome === 'number') expectReadBack(text);
        else expect(outcome).not.toContain('JSON');
      }),
      { numRuns: 3000 },
    );
  });

  it('has the value of the last of repeated keys, as in JSON.parse', () => {
    const [one, two] = [JSON.stringify(eventItem()), JSON.stringify(eventItem())];
    expect(read(`{"events":[${one}],"events":[${one},${two}]}`)).toBe(2);
    expect(read(`{"events":[1],"events":[${one}]}`)).toBe(1);
    expect(read(`{"events":[${one}],"events":[1]}`)).toBe('bad_request: events[0] must be an object');
    expect(read(`{"events":[${one.replace('{', '{"event_id":"x",')}]}`)).toBe(1);
    expect(read(`{"events":[${one.slice(0, -1)},"event_id":"x"}]}`)).toBe(
      'bad_request: events[0].event_id must be a UUID v4',
    );
    expect(read(`{"\\u0065vents":[${one.replace('event_name', '\\u0065vent_name')}]}`)).toBe(1);
  });

  it('can have at most 1000 items of any kind', () => {
    const tooMany = 'too_large: A batch must contain at most 1000 events';
    expect(read(batchOf(items(1000)))).toBe(1000);
    expect(read(batchOf(items(1001)))).toBe(tooMany);
    expect(read(`{"events":[${'1,'.repeat(1000)}1]}`)).toBe(tooMany);
    expect(read(`{"events":[${'1,'.repeat(999)}1]}`)).toBe('bad_request: events[0] must be an object');
    expect(read(batchOf([eventItem({ payload: { events: Array(2000).fill(1) } })]))).toBe(1);
  });

  it('can nest payloads at most 32 levels deep', () => {
    const nested = (levels: number, name = 'payload'): string =>
      JSON.stringify(eventItem({ [name]: 0 })).replace(
        `"${name}":0`,
        `"${name}":${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`,
      );
    expect(read(`{"events":[${nested(32)}]}`)).toBe(1);
    for (const levels of [33, 200_000])
      expect(read(`{"events":[${nested(1)},${nested(levels)}]}`)).toBe(
        'bad_request: events[1].payload must nest at most 32 levels deep',
      );
    // Ignored members may be of any depth, as far as parsers are concerned.
    const deep = `{"events":[${nested(200_000, 'other')}]}`;
    expect([read(deep), readItems(Buffer.from(deep)).length]).toEqual([1, 1]);
    expect(read('['.repeat(500_000))).toBe('bad_request: The request body is not valid JSON');
  });

  it.each([
    ...['', 'null', '[]', '"events"'].map(
      (body) => [body, 'The request body must be a JSON object'] as const,
    ),
    ['nonsense', 'The request body is not valid JSON'],
    [Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), 'The request body is not valid UTF-8'],
    [
      batchOf([eventItem()]).replace('"amount"', '"\\u005f_proto__"'),
      'The request body holds a key that is not allowed (__proto__ or constructor.prototype)',
    ],
    ['{}', 'events is required'],
    ['{"events":null}', 'events is required'],
    ['{"events":{}}', 'events must be an array'],
    ['{"events":[]}', 'events must contain at least one event'],
    ['{"events":[null]}', 'events[0] must be an object'],
  ])('is refused: %j', (body, message) => expect(read(body)).toBe(`bad_request: ${message}`));
});

/** What is accepted is what processing reads later, without parsing payloads. */
function expectReadBack(text: string): void {
  const body = Buffer.from(text);
  // Half of a surrogate pair does not survive the way to bytes.
  const { events } = JSON.parse(body.toString().replace('\ufeff', '')) as {
    readonly events: readonly ValidItem[];
  };
  const items = readItems(body).map(({ payload, ...item }) => ({
    ...item,
    payload: JSON.parse(payload) as unknown,
  }));
  expect(items).toEqual(events.map((each) => ({ ...toItem(each, ''), payload: each.payload })));
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** JSON in ASCII alone. */
function escaped(text: string): string {
  return text.replace(/[^ -~\s]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
