import type { MigrationInterface, QueryRunner } from 'typeorm';
import { createIndexConcurrently } from '../../postgres/concurrent-index.js';

/** Sealed responses of a merchant: few among all, and those that name an erased person are looked for. */
export class SealedResponses1764000001401 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    const on = `answers (scope, created_at, key) where body like 'sealed:%'`;
    await createIndexConcurrently(runner, { schema: 'event_store', index: 'answers_sealed', on });
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop index event_store.answers_sealed');
  }
}
