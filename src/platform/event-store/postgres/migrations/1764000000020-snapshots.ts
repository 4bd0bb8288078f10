import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Folded states of long streams. A cache: what is missing here is folded from the events again. */
export class Snapshots1764000000020 implements MigrationInterface {
  readonly name = 'Snapshots1764000000020';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table event_store.snapshots (
        stream text collate "C" not null,
        -- Of the code that folded it: others fold another state.
        shape text not null,
        -- The last event that is folded in.
        revision integer not null,
        event_id uuid not null,
        -- Whose key seals the state; null: a key of the ring.
        subject text,
        sealed_state text not null,
        primary key (stream, shape)
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table event_store.snapshots');
  }
}
