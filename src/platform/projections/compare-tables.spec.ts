import { beforeAll, describe, expect, it } from '@jest/globals';
import { onTestDatabase } from '../../../test/support/postgres.js';
import { compareTables, type TableComparison } from './compare-tables.js';

describe('the comparison of two tables', () => {
  const db = onTestDatabase();
  beforeAll(async () => {
    await db.pool.query(`
      create schema a; create schema b;
      create table a.t (id int, n int, state smallint, body text, tags text[], primary key (id, n));
      comment on column a.t.state is '0 pending, 1 received, 10 old';
      insert into a.t select g, 0, 0, 'body', '{x}' from generate_series(1, 100) g;
      create table b.t (like a.t including all)`);
  });

  /** Compares after `sql` changed the live table, and rolls it back. */
  async function after(sql: string): Promise<TableComparison> {
    await db.pool.query('truncate b.t; insert into b.t select * from a.t');
    return db.database.transaction(async (tx) => {
      await tx.query(`savepoint before; ${sql}`);
      const compared = await compareTables(tx, 'a.t', 'b.t');
      await tx.query('rollback to savepoint before');
      return compared;
    });
  }

  it('finds no difference in equal tables', async () => {
    expect(await after('')).toEqual({ table: 'a.t', rows: 100, different: 0, first: [] });
  });

  it.each([
    [
      'a changed number by the word for it',
      'update a.t set state = 1 where id = 7',
      'a.t 7 0: state is received, the events say pending',
    ],
    [
      'a field that became null',
      'update a.t set body = null where id = 7',
      'a.t 7 0: body is null, the events say body',
    ],
    [
      'two changed fields',
      `update a.t set body = '', tags = '{y}' where id = 7`,
      'a.t 7 0: body is empty, the events say body; tags is {y}, the events say {x}',
    ],
    [
      'a row that is missing',
      'delete from a.t where id = 7',
      'a.t 7 0: no row, the events say that there is one',
    ],
    [
      'a surplus row',
      'insert into a.t (id, n) values (7, 1)',
      'a.t 7 1: a row, the events say that there is none',
    ],
  ])('reports %s', async (_name, sql, words) => {
    expect(await after(sql)).toMatchObject({ different: 1, first: [words] });
  });

  it('quotes only the part of a long text around the difference', async () => {
    const long = `repeat('abcdefghij', 30)`;
    await db.pool.query(`update a.t set body = ${long} where id = 7`);
    const { first } = await after(`update a.t set body = overlay(body placing '!' from 151) where id = 7`);
    expect(first[0]).toMatch(/: body is ….*j!bc.*…, the events say ….*jabc.*…$/);
    expect(first[0]!.length).toBeLessThan(200);
  });

  it('compares the values of JSON and not the order of its members', async () => {
    const compared = (live: string, json?: readonly string[]): Promise<TableComparison> =>
      db.database.transaction(async (tx) => {
        await tx.query('truncate b.t; insert into b.t select * from a.t');
        await tx.query(`update b.t set body = '[{"a":1,"b":{"c":2,"d":3}}]' where id = 7`);
        await tx.query('update a.t set body = $1 where id = 7', [live]);
        return compareTables(tx, 'a.t', 'b.t', json);
      });
    const other = '[{"b":{"d":3,"c":2},"a":1}]';
    expect(await compared(other, ['body'])).toEqual({ table: 'a.t', rows: 100, different: 0, first: [] });
    expect(await compared(other)).toMatchObject({ different: 1 });
    for (const live of ['[{"b":{"d":3,"c":2},"a":2}]', 'no JSON', '[]'])
      expect(await compared(live, ['body'])).toMatchObject({ different: 1, first: [expect.any(String)] });
  });

  it('counts 100 differing rows and lists the first 20 by key', async () => {
    const { rows, different, first } = await after('update a.t set state = 1');
    expect({ rows, different, first: first.length }).toEqual({ rows: 100, different: 100, first: 20 });
  });
});
