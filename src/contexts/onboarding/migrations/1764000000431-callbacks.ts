import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Callbacks of identity providers that were taken. */
export class Callbacks1764000000431 implements MigrationInterface {
  readonly name = 'Callbacks1764000000431';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table onboarding.callbacks (
        provider text not null,
        event_id text not null,
        received_at timestamptz not null default now(),
        primary key (provider, event_id)
      );
      create index callbacks_received_at on onboarding.callbacks (received_at);
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table onboarding.callbacks');
  }
}
