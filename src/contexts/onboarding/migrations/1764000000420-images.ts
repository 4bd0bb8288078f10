import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Images on their way to the identity provider, sealed with the key of the person. */
export class Images1764000000420 implements MigrationInterface {
  readonly name = 'Images1764000000420';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table onboarding.images (
        user_id uuid not null,
        kind text not null,
        type text not null,
        sealed text not null,
        stored_at timestamptz not null default now(),
        primary key (user_id, kind)
      );
      create index images_stored_at on onboarding.images (stored_at);
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table onboarding.images');
  }
}
