import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Two lines of payouts to look up, fresh and old, so that neither holds up the other. */
export class PayoutLines1764000000510 implements MigrationInterface {
  readonly name = 'PayoutLines1764000000510';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      `alter table payouts.verifications add column old boolean not null default false`,
    );
    await queryRunner.query(`
      create index verifications_in_line on payouts.verifications (chain_id, old, next_check_at)`);
    await queryRunner.query(`drop index payouts.verifications_due`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      create index verifications_due on payouts.verifications (chain_id, next_check_at)`);
    await queryRunner.query(`drop index payouts.verifications_in_line`);
    await queryRunner.query(`alter table payouts.verifications drop column old`);
  }
}
