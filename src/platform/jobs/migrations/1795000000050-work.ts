import type { MigrationInterface, QueryRunner } from 'typeorm';

export class Work1795000000050 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create schema work;

      create table work.items (
        -- What is to be done, by the name that its context gives it, and to what.
        kind text collate "C" not null,
        key text collate "C" not null,
        -- Lines of a kind are claimed one after the other; within a line the shares get equal parts of each claim.
        line smallint not null default 0,
        share text collate "C" not null default '',
        -- In the future while a process has claimed the item: the end of its lease.
        due_at timestamptz not null,
        -- Of the claim: changes require it.
        lease uuid,
        -- In a row, since when, and why the last one.
        failures int not null default 0,
        failing_since timestamptz,
        cause text,
        state jsonb,
        primary key (kind, key)
      ) with (fillfactor = 70);
      create index items_due on work.items (kind, line, share, due_at);
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop schema work cascade');
  }
}
