import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The keys that seal, each in one copy per master key that opens it. `seals_from` is null for a key that only opens.
 * `seen_at` (of the root's copies): when a process that goes by this master key was last here. `resealed_at`: since
 * when no personal key is wrapped by an older key.
 */
export class KeyRing1764000000120 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table platform.key_ring (
        key_id text collate "C" not null,
        master_id text collate "C" not null,
        wrapped_key text not null,
        seals_from timestamptz,
        created_at timestamptz not null default now(),
        resealed_at timestamptz,
        seen_at timestamptz,
        primary key (key_id, master_id)
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table platform.key_ring');
  }
}
