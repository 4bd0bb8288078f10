import type { MigrationInterface, QueryRunner } from 'typeorm';

export class Payouts1795000000501 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create schema payouts;

      create table payouts.payouts (
        id uuid primary key,
        merchant_id uuid not null,
        user_id uuid not null,
        status smallint not null check (status in (0, 1, 2)),
        created_at timestamptz not null,
        amount_minor bigint not null,
        transaction_hash text not null,
        log_index integer,
        body text not null
      );
      -- These serve every filter: a list without a status merges the three statuses. A user belongs to one merchant.
      create index payouts_by_merchant on payouts.payouts (merchant_id, status, created_at desc, id desc);
      create index payouts_by_user on payouts.payouts (user_id, status, created_at desc, id desc);
      create index payouts_by_status on payouts.payouts (status, created_at desc, id desc);
      -- Eight bytes of the hash: an index on the text would be most of the bytes of a report. A hash index has long chains
      -- for repeated hashes.
      create index payouts_by_transaction on payouts.payouts (hashtextextended(transaction_hash, 0));
      -- Compressing a body costs more than its bytes.
      alter table payouts.payouts alter column body set storage external;
      comment on column payouts.payouts.status is '0 pending, 1 received, 2 expired';
      comment on column payouts.payouts.transaction_hash is 'in the form in which hashes are compared';
      comment on column payouts.payouts.log_index is 'of a received one: the place of its transfer in the transaction';
      comment on column payouts.payouts.body is 'the payout as the API returns it, byte for byte';

      -- Half-empty pages keep updates of the totals on their page and out of the index.
      create table payouts.balances (
        user_id uuid primary key,
        merchant_id uuid not null,
        confirmed bigint not null default 0,
        pending bigint not null default 0,
        deactivating boolean not null default false
      ) with (fillfactor = 50);
      create index balances_deactivating on payouts.balances (user_id) where deactivating;
      comment on table payouts.balances is 'one row per user, in minor units of USDC (0.000001)';

      -- The facts of pending payouts; work.items has their schedule.
      create table payouts.verifications (
        payout_id uuid primary key,
        user_id uuid not null,
        merchant_id uuid not null,
        chain_id bigint not null,
        hash text not null,
        amount_minor bigint not null,
        created_at timestamptz not null,
        expires_at timestamptz not null
      );
      create index verifications_by_user on payouts.verifications (user_id);

      -- The newest 50 checks of a payout, for 7 days.
      create table payouts.checks (
        payout_id uuid not null,
        number integer not null,
        at timestamptz not null,
        finding text not null,
        node text,
        head bigint,
        confirmations bigint,
        primary key (payout_id, number)
      );
      create index checks_by_time on payouts.checks (at);
      comment on table payouts.checks is 'of the verification on the chain; no outcome rests on it';
      comment on column payouts.checks.node is 'host of the node that was read; null where none was needed or none responded';

      -- The receipts of received payouts, as nodes sent them. Not a read model.
      create table payouts.receipts (sha256 bytea primary key, receipt text not null);
      comment on table payouts.receipts is 'kept for payouts; sha256 is of the bytes of receipt';

      -- Announced payouts; empty when the events are in PostgreSQL (ADR 103).
      create table payouts.payout_intents (
        payout_id uuid primary key,
        user_id uuid not null
      );
      create index payout_intents_by_user on payouts.payout_intents (user_id);
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop schema payouts cascade');
  }
}
