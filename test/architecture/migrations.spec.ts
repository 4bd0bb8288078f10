import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';

const CREATE_TABLE = /create\s+table\s+(?:if\s+not\s+exists\s+)?([\w.]+)/gi;
const CREATE_INDEX =
  /create\s+(?:unique\s+)?index\s+(?!concurrently)(?:if\s+not\s+exists\s+)?\w+\s+on\s+(?:only\s+)?([\w.]+)/gi;

/** Returns the tables on which a migration creates an index that blocks writers. */
function heldUp(text: string): string[] {
  const created = new Set([...text.matchAll(CREATE_TABLE)].map(([, table]) => table));
  return [...text.matchAll(CREATE_INDEX)].map(([, table]) => table!).filter((table) => !created.has(table));
}

describe('migrations', () => {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((file) =>
    /migrations.[0-9]+-[^/]+\.ts$/.test(file),
  );

  it.each(files)('%s creates indexes on existing tables only concurrently (docs/migrations.md)', (file) => {
    expect(heldUp(readFileSync(join('src', file), 'utf8'))).toEqual([]);
  });

  it('are reported if they create an index on an existing table without concurrently', () => {
    expect(files.length).toBeGreaterThan(5);
    expect(heldUp('create table a.b (c int); create index d on a.b (c)')).toEqual([]);
    expect(heldUp('create index concurrently d on a.b (c)')).toEqual([]);
    expect(heldUp('CREATE UNIQUE INDEX IF NOT EXISTS d ON a.b (c)')).toEqual(['a.b']);
  });
});
