import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The Merkle tree over the log, its heads and keys. Rows of leaves and heads are never updated. */
export class Audit1795000000950 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create schema if not exists audit;

      create table audit.leaves (
        index bigint primary key,
        -- Grows with the index, so that a leaf is found without a separate index.
        position bigint not null,
        -- 32 bytes each: of the leaf, then of every subtree that it completes, the smallest first.
        hashes bytea not null
      );

      create table audit.ledger (
        only_row boolean primary key default true check (only_row),
        log_id uuid not null,
        size bigint not null,
        -- Of the last leaf.
        position bigint not null,
        -- Roots of the complete subtrees, the largest first.
        peaks bytea not null,
        -- By a key of the ring, over the row: the follower wrote it.
        mac text not null
      ) with (fillfactor = 20);

      create table audit.signing_keys (
        key_id text primary key,
        -- From 0, as they follow one another.
        place integer not null unique,
        -- DER, SubjectPublicKeyInfo.
        public_key bytea not null,
        -- PKCS #8; null once another key has replaced it.
        sealed_private_key text,
        -- The public key, sealed: proves that a process with the master key wrote this row.
        sealed_public_key text not null,
        made_at timestamptz not null,
        -- The key before it, and its signature; null for the first.
        former_key_id text unique references audit.signing_keys,
        signature bytea
      );

      create table audit.heads (
        size bigint primary key,
        root bytea not null,
        position bigint not null,
        signed_at timestamptz not null,
        key_id text not null references audit.signing_keys,
        -- Hash of the head before it; null for the first.
        previous bytea,
        signature bytea not null
      );

      -- The newest head, with a MAC: heads cannot be removed unnoticed. Size 0 before the first.
      create table audit.last_head (
        only_row boolean primary key default true check (only_row),
        size bigint not null,
        hash text not null,
        mac text not null
      );

      -- The outcome of the last \`npm run audit -- verify\`, for operators.
      create table audit.last_verify (
        only_row boolean primary key default true check (only_row),
        at timestamptz not null,
        outcome text not null check (outcome in ('in_order', 'wrong', 'incomplete')),
        read_to text
      );
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop schema audit cascade');
  }
}
