import { beforeEach, describe, expect, it } from '@jest/globals';
import { MemoryBudget, parseJsonBody, SMALL_BYTES } from './request-body.js';
import { RequestState } from './request-state.js';

const MIB = 1 << 20;

describe('the memory for requests and responses', () => {
  let memory: MemoryBudget;
  beforeEach(() => {
    memory = new MemoryBudget(16 * MIB);
  });
  const request = (client: string): RequestState => Object.assign(new RequestState(), { client });
  const respond = (client: string, bytes: number): boolean =>
    memory.reserveResponse(request(client), bytes, false);

  it('is limited to a quarter for one client, except for small bodies and responses', () => {
    const unread = request('a');
    expect(memory.reserveResponse(unread, 4 * MIB, false)).toBe(true);
    expect(respond('a', MIB)).toBe(false);
    expect([respond('a', SMALL_BYTES), memory.reserveBody(request('a'), SMALL_BYTES)]).toEqual([true, true]);
    expect(respond('b', 4 * MIB)).toBe(true);
    memory.release(unread);
    expect(respond('a', 3 * MIB)).toBe(true);
  });

  it('is limited for all clients together, but a write always gets its response', () => {
    expect('abcd'.split('').map((client) => respond(client, 4 * MIB))).toEqual([true, true, true, true]);
    expect([respond('e', MIB), memory.reserveBody(request('e'), MIB)]).toEqual([false, false]);
    expect(memory.reserveResponse(request('e'), MIB, true)).toBe(true);
  });

  it('delays the list of a client until the unread response of this client is released', async () => {
    const unread = request('a');
    expect(memory.reserveResponse(unread, 3 * MIB, false)).toBe(true);
    const list = request('a');
    let isReserved = false;
    const page = memory.reservePage(list).then((reserved) => (isReserved = reserved));
    expect(await memory.reservePage(request('b'))).toBe(true);
    expect(isReserved).toBe(false);
    memory.release(unread);
    expect(await page).toBe(true);
    // What the page took less is free.
    expect([respond('a', MIB), memory.reserveResponse(list, MIB, false)]).toEqual([false, true]);
    expect(respond('a', MIB)).toBe(true);
  });

  it('is not reserved for a client that is gone', async () => {
    const gone = request('a');
    memory.release(gone);
    expect(memory.reserveBody(gone, 1)).toBe(false);
    expect(memory.reserveResponse(gone, 4 * MIB, false)).toBe(true);
    expect(await memory.reservePage(gone)).toBe(true);
    expect(respond('a', 4 * MIB)).toBe(true);
  });
});

describe('a JSON body', () => {
  it('may contain escapes and a member named constructor', () => {
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
  ])('is refused if one of its keys would change a prototype: %s', (text) => {
    expect(() => parseJsonBody(Buffer.from(text))).toThrow('a key that is not allowed');
  });
});
