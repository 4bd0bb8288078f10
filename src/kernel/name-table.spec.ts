import { expect, it } from '@jest/globals';
import { NameTable } from './name-table.js';

it('a name table numbers each of 20,000 names once', () => {
  const table = new NameTable();
  const names = Array.from({ length: 20_000 }, (_, n) => `stream-${n}`);
  expect(names.map((name) => table.add(name))).toEqual(names.map((_, n) => n));
  expect(names.map((name) => table.add(name))).toEqual(names.map((_, n) => n));
  expect(names.map((name) => table.find(name))).toEqual(names.map((_, n) => n));
  expect([table.size, table.find('stream-'), table.has('stream-1')]).toEqual([20_000, -1, true]);
});
