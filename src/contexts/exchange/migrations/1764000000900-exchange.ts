import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The schema of the exchange. */
export class Exchange1764000000900 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('create schema exchange');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop schema exchange cascade');
  }
}
