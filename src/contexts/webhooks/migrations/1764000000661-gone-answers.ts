import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Endpoints whose receiver answered 410 while the event store was away: they are disabled once it is back. */
export class GoneAnswers1764000000661 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table webhooks.gone_answers (
        endpoint_id uuid primary key,
        merchant_id uuid not null,
        -- The attempt that was answered so: the latest one of the endpoint.
        delivery_id uuid not null,
        attempted_url text not null,
        attempted_at timestamptz(3) not null
      );
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table webhooks.gone_answers');
  }
}
