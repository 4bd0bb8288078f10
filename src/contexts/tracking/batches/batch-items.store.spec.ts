import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { batchOf, eventItem } from '../../../../test/support/tracking/event-batches.js';
import { bodyWithout, readItems } from './batch-items.store.js';

const without = (body: string, externalId: string): string | null =>
  bodyWithout(Buffer.from(body), externalId)?.body.toString() ?? null;

describe('the erasure of a person from a stored body', () => {
  it('changes nothing if the body has no events of the person', () => {
    expect(without(batchOf([eventItem({ user_external_id: 'ada' })]), 'grace')).toBeNull();
    expect(without(batchOf([eventItem({ payload: { note: 'ada' } })]), 'ada')).toBeNull();
  });

  it('blanks events of the person except id and time, and keeps other events byte for byte', () => {
    const other =
      '{ "user_external_id":"grace","event_id":"7b0f1f1e-0000-4000-8000-000000000001","event_name":"A\\u0042","payload":{"n":1.0},"event_datetime":"2026-01-01T00:00:00Z"}';
    const ada = eventItem({ event_id: '7b0f1f1e-0000-4000-8000-000000000002', user_external_id: ' ada ' });
    const rewritten = bodyWithout(Buffer.from(`{"events":[${other},${JSON.stringify(ada)}]}`), 'ada')!;
    expect(rewritten.items).toEqual([1]);
    const [kept, blank] = readItems(rewritten.body);
    expect(rewritten.body.toString()).toContain(other);
    expect(kept).toMatchObject({ user_external_id: 'grace', event_name: 'ab', payload: '{"n":1.0}' });
    expect(blank).toEqual({
      event_id: ada['event_id'],
      event_name: '',
      event_datetime: '2026-01-31T12:00:00.000000Z',
      user_external_id: '',
      device_id: null,
      payload: '{}',
    });
  });

  it('removes data of the person from ignored members and repeated keys too', () => {
    const item = JSON.stringify(eventItem({ user_external_id: 'ada' }));
    const body = `{"about":"ada lovelace","events":[${item}],"events":[${item}],"also":["ada"]}`;
    const rewritten = without(body, 'ada')!;
    expect(rewritten).not.toContain('ada');
    expect(readItems(Buffer.from(rewritten))).toHaveLength(1);
  });

  it('keeps every item but no spelling of the name of the person, for random items', () => {
    const name = fc.constantFrom('ada', ' ada', '\\u0061da', 'grace', 'adam', 'Ada');
    fc.assert(
      fc.property(fc.array(name, { minLength: 1, maxLength: 6 }), (names) => {
        const items = names.map((each) =>
          JSON.stringify(eventItem({ user_external_id: 'X' })).replace('"X"', () => `"${each}"`),
        );
        const body = Buffer.from(`{"events":[${items.join(', ')}]}`);
        const before = readItems(body);
        const rewritten = bodyWithout(body, 'ada');
        const after = readItems(rewritten?.body ?? body);
        expect(after.map(({ event_id }) => event_id)).toEqual(before.map(({ event_id }) => event_id));
        expect(after.some(({ user_external_id }) => user_external_id === 'ada')).toBe(false);
        const own = before.flatMap(({ user_external_id }, place) =>
          user_external_id === 'ada' ? [place] : [],
        );
        expect(rewritten?.items ?? []).toEqual(own);
      }),
    );
  });
});
