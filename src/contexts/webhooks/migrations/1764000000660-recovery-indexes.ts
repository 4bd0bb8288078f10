import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Recoveries that are open are asked for by endpoint, and those that ended long ago by when that was. */
export class RecoveryIndexes1764000000660 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      drop index webhooks.recoveries_open;
      create index recoveries_open on webhooks.recoveries (endpoint_id, accepted_at) where finished_at is null;
      create index recoveries_ended on webhooks.recoveries (finished_at) where finished_at is not null;
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      drop index webhooks.recoveries_ended;
      drop index webhooks.recoveries_open;
      create index recoveries_open on webhooks.recoveries (accepted_at) where finished_at is null;
    `);
  }
}
