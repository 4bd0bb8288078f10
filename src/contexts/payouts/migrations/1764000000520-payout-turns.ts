import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Merchants take turns, hashes without an answer wait apart, and the first look after the window is kept. */
export class PayoutTurns1764000000520 implements MigrationInterface {
  readonly name = 'PayoutTurns1764000000520';

  async up(queryRunner: QueryRunner): Promise<void> {
    // Rows of processes of the version before have no merchant: their users take turns. They are gone after the window.
    await queryRunner.query(`
      alter table payouts.verifications
        add column merchant_id uuid,
        add column unanswered smallint not null default 0,
        add column closing_finding text,
        add column closing_head bigint,
        add column closing_at timestamptz`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      alter table payouts.verifications
        drop column merchant_id, drop column unanswered, drop column closing_finding,
        drop column closing_head, drop column closing_at`);
  }
}
