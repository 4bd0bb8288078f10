import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The keys that seal: those of persons, and the ring that wraps them. */
export class Sealing1764000000120 implements MigrationInterface {
  static readonly replaces = ['PersonalKeys1764000000110'];
  /** Of the last one that it replaces: a database which has that one has all of this. */
  readonly name = 'KeyRing1764000000120';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create schema if not exists platform;

      -- A row without a key says that the person was forgotten, so that no new key is made.
      create table platform.personal_keys (
        subject text collate "C" not null primary key,
        wrapped_key text,
        created_at timestamptz not null default now(),
        forgotten_at timestamptz
      );

      -- Each key of the ring in one copy per master key that opens it.
      create table platform.key_ring (
        key_id text collate "C" not null,
        master_id text collate "C" not null,
        wrapped_key text not null,
        -- Null for a key that only opens.
        seals_from timestamptz,
        created_at timestamptz not null default now(),
        -- Since when no personal key is wrapped by an older key.
        resealed_at timestamptz,
        -- Of the root's copies: when a process that goes by this master key was last here.
        seen_at timestamptz,
        primary key (key_id, master_id)
      );
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table platform.personal_keys, platform.key_ring');
  }
}
