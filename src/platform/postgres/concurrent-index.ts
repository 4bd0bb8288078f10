import type { QueryRunner } from 'typeorm';

/**
 * Makes an index on a table that exists, without holding up its writers. For a migration of its own, with
 * `readonly transaction = false`. `index` is its bare name, `on` what follows `on` in `create index`. It may run
 * again: what a try that died left behind goes first. It waits for old transactions, and nobody waits for it.
 */
export async function createIndexConcurrently(
  runner: QueryRunner,
  { schema, index, on, unique = false }: { schema: string; index: string; on: string; unique?: boolean },
): Promise<void> {
  await runner.query('set lock_timeout = 0');
  try {
    await runner.query(`drop index concurrently if exists ${schema}.${index}`);
    await runner.query(`create ${unique ? 'unique ' : ''}index concurrently ${index} on ${schema}.${on}`);
  } finally {
    await runner.query('reset lock_timeout');
  }
}
