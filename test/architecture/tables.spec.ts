import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';

const CONTEXTS = readdirSync('src/contexts', { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

/** A table of a context where a statement names one. */
const TABLE = new RegExp(
  `\\b(?:from|join|into|update|table|using|only|truncate)\\s+(${CONTEXTS.join('|')})\\.([a-z_]+)`,
  'g',
);

/** Returns the tables of other contexts in a file of `context`. */
function strangeTables(context: string, text: string): string[] {
  return [...text.matchAll(TABLE)].flatMap(([, schema, name]) =>
    schema === context ? [] : [`${schema}.${name}`],
  );
}

describe('a context', () => {
  it.each(CONTEXTS)('%s names no table of another context', (context) => {
    const files = readdirSync(join('src/contexts', context), { recursive: true, encoding: 'utf8' })
      .filter(
        (file) => file.endsWith('.ts') && !file.endsWith('.spec.ts') && !/^(migrations|cli)\//.test(file),
      )
      .map((file) => join('src/contexts', context, file));
    const found = files.flatMap((file) =>
      strangeTables(context, readFileSync(file, 'utf8')).map((table) => `${file}: ${table}`),
    );
    expect(found).toEqual([]);
  });

  it('is reported if it names a table of another context', () => {
    expect(strangeTables('users', 'select 1 from users.users join payouts.balances using (user_id)')).toEqual(
      ['payouts.balances'],
    );
    expect(strangeTables('audit', 'select 1 from users.wallets')).toEqual(['users.wallets']);
    expect(strangeTables('users', 'delete from users.wallets')).toEqual([]);
  });
});
