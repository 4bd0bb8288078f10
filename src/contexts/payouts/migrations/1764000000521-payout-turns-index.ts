import type { MigrationInterface, QueryRunner } from 'typeorm';
import { createIndexConcurrently } from '../../../platform/postgres/concurrent-index.js';

/** Due payouts by line and merchant. The expressions are those of application/take-by-turns.ts, word for word. */
export class PayoutTurnsIndex1764000000521 implements MigrationInterface {
  readonly name = 'PayoutTurnsIndex1764000000521';
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    // verifications_in_line stays for processes of the version before.
    await createIndexConcurrently(queryRunner, {
      schema: 'payouts',
      index: 'verifications_by_turn',
      on: `verifications (
        chain_id,
        (case when unanswered > 0 then 2 when old then 1 else 0 end),
        (coalesce(merchant_id, user_id)),
        next_check_at
      )`,
    });
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`drop index payouts.verifications_by_turn`);
  }
}
