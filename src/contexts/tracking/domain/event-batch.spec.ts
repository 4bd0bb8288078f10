import { describe, expect, it } from '@jest/globals';
import { itemsOf, RefusedBatch } from './event-batch.js';

const item = (over: object = {}) => ({
  ...{ event_id: '0b6f0b1e-55a2-4f0a-9d0c-0c3f8d3b1a2e', event_name: 'order_paid' },
  ...{ event_datetime: '2026-01-02T03:04:05Z', user_external_id: 'u', payload: {} },
  ...over,
});
/** An object so many levels deep. */
const nested = (levels: number): object => (levels === 1 ? {} : { a: nested(levels - 1) });

function refusalOf(body: unknown): readonly [string, string, number] | null {
  try {
    itemsOf(body);
    return null;
  } catch (error) {
    if (!(error instanceof RefusedBatch)) throw error;
    return [error.code, error.message, error.items];
  }
}

describe('a batch of events', () => {
  it.each<[string, unknown, readonly [string, string, number]]>([
    ['nothing', undefined, ['bad_request', 'The request body must be a JSON object', 0]],
    ['null', null, ['bad_request', 'The request body must be a JSON object', 0]],
    ['a list', [], ['bad_request', 'The request body must be a JSON object', 0]],
    ['a text', 'x', ['bad_request', 'The request body must be a JSON object', 0]],
    ['an object without events', {}, ['bad_request', 'events is required', 0]],
    ['null for events', { events: null }, ['bad_request', 'events is required', 0]],
    ['an object for events', { events: {} }, ['bad_request', 'events must be an array', 0]],
    ['no events', { events: [] }, ['bad_request', 'events must hold at least one event', 0]],
    [
      '1,001 events',
      { events: Array.from({ length: 1001 }, () => null) },
      ['too_large', 'A batch must hold at most 1000 events', 1001],
    ],
  ])('is refused when it is %s', (_what, body, refusal) => {
    expect(refusalOf(body)).toEqual(refusal);
  });

  it('is refused with the first item that is wrong', () => {
    const refusal = refusalOf({ events: Array.from({ length: 1000 }, () => null) });
    expect(refusal).toEqual(['bad_request', expect.stringMatching(/^events\[0\]/), 1000]);
  });

  it('is accepted with up to 1,000 events and payloads of 32 levels', () => {
    expect(itemsOf({ events: [item({ payload: nested(32) })] })).toBe(1);
    expect(itemsOf({ events: Array.from({ length: 1000 }, () => item()) })).toBe(1000);
  });

  it('is refused with the first item that is wrong or too deep', () => {
    const events = [item(), item({ event_name: '' })];
    expect(refusalOf({ events })).toEqual(['bad_request', 'events[1].event_name must not be blank', 2]);
    const deep = [item(), item({ payload: nested(33) })];
    expect(refusalOf({ events: deep })).toEqual([
      ...['bad_request', 'events[1].payload must nest at most 32 levels deep', 2],
    ]);
    expect(refusalOf({ events: [item()], more: nested(35) })).toEqual([
      ...['bad_request', 'The request body is nested deeper than 35 levels', 1],
    ]);
  });
});
