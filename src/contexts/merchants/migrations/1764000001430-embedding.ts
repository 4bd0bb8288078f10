import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Who may show the pages of a merchant's users in a frame, where they lead back to, and what people read for the merchant. */
export class Embedding1764000001430 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table merchants.directory
        add column origins text[] not null default '{}',
        add column callbacks text[] not null default '{}',
        add column shown_as text
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(
      'alter table merchants.directory drop column origins, drop column callbacks, drop column shown_as',
    );
  }
}
