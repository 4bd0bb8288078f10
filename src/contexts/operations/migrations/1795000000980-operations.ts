import type { MigrationInterface, QueryRunner } from 'typeorm';

export class Operations1795000000980 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create schema operations;

      create table operations.operations (
        id uuid primary key,
        name text not null,
        status text not null,
        operator_id text,
        operator_name text not null,
        subject_kind text not null,
        subject_id text not null,
        merchant_id uuid,
        reason text not null,
        requested_at timestamptz(3) not null,
        expires_at timestamptz(3),
        executed_at timestamptz(3),
        -- The events, and the operation as the admin API displays it.
        revision bigint not null,
        events text not null,
        body text not null
      );
      create index operations_newest on operations.operations (requested_at, id);
      create index operations_open on operations.operations (status, requested_at, id)
        where status in ('pending_approval', 'unconfirmed');
      create index operations_of_subject on operations.operations (subject_id, requested_at);
      create index operations_of_merchant on operations.operations (merchant_id, executed_at, id);

      create table operations.lookups (
        id uuid primary key,
        merchant_id uuid not null,
        at timestamptz(3) not null,
        operator_id text,
        operator_name text not null,
        subject text not null
      );
      create index lookups_of_merchant on operations.lookups (merchant_id, at, id);
      create index lookups_oldest on operations.lookups (at);
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop schema operations cascade');
  }
}
