import { describe, expect, it } from '@jest/globals';
import { newId } from '../../../kernel/ids.js';
import { BookedRows } from './booked-rows.js';
import { NameTable } from '../../../kernel/name-table.js';

const MANY = 20_000;

describe('a table of names', () => {
  it('numbers each name once, however many there are', () => {
    const table = new NameTable();
    const names = Array.from({ length: MANY }, (_, n) => `stream-${n}`);
    expect(names.map((name) => table.add(name))).toEqual(names.map((_, n) => n));
    expect(names.map((name) => table.add(name))).toEqual(names.map((_, n) => n));
    expect(names.map((name) => table.find(name))).toEqual(names.map((_, n) => n));
    expect([table.size, table.find('stream-'), table.has('stream-1')]).toEqual([MANY, -1, true]);
  });
});

describe('booked rows', () => {
  it('know what is there, what differs, what is too many and what is missing', () => {
    const ids = Array.from({ length: MANY }, () => newId());
    const rows = new BookedRows();
    ids.forEach((id, n) => rows.put(id, [id, n]));
    rows.put(ids[7]!, ['changed', null]);
    expect(rows.agrees(newId(), [])).toBeNull();
    ids.slice(5).forEach((id, n) => expect(rows.agrees(id, [id, n + 5])).toBe(n + 5 !== 7));
    expect(rows.agrees(ids[7]!, ['changed', null])).toBe(true);
    expect([...rows.unseen()]).toEqual(ids.slice(0, 5));
  });
});
