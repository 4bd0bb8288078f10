import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Receipts that payouts rest on, as nodes sent them. */
export class PayoutReceipts1764000001220 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table payouts.receipts (sha256 bytea primary key, receipt text not null);
      comment on table payouts.receipts is 'kept for payouts; sha256 is of the bytes of receipt, and no read model';
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table payouts.receipts');
  }
}
