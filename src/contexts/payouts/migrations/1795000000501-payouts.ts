import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Read models of payouts (`payouts.payouts`, `payouts.balances`), the work of verifying them on the chain, and the receipts that they rest on. */
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
      -- Three indexes serve every filter: a list without a status merges the three statuses. A user is of one merchant.
      create index payouts_by_merchant on payouts.payouts (merchant_id, status, created_at desc, id desc);
      create index payouts_by_user on payouts.payouts (user_id, status, created_at desc, id desc);
      create index payouts_by_status on payouts.payouts (status, created_at desc, id desc);
      -- Eight bytes of it: an index on the text would be most of what a report writes. A hash index has long chains where
      -- one hash is reported again and again.
      create index payouts_by_transaction on payouts.payouts (hashtextextended(transaction_hash, 0));
      -- Compressing a body costs more than its bytes.
      alter table payouts.payouts alter column body set storage external;
      comment on column payouts.payouts.status is '0 pending, 1 received, 2 expired';
      comment on column payouts.payouts.transaction_hash is 'in the form in which hashes are compared';
      comment on column payouts.payouts.log_index is 'of a received one: the place of its transfer in the transaction';
      comment on column payouts.payouts.body is 'the payout as the API returns it, byte for byte';

      -- Half-empty pages keep the running totals' updates on their page and out of the index.
      create table payouts.balances (
        user_id uuid primary key,
        merchant_id uuid not null,
        confirmed bigint not null default 0,
        pending bigint not null default 0,
        deactivating boolean not null default false
      ) with (fillfactor = 50);
      create index balances_deactivating on payouts.balances (user_id) where deactivating;
      comment on table payouts.balances is 'one row per user, in minor units of USDC (0.000001)';

      -- What pending payouts are verified by; when, is in work.items.
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

      -- What each check of a payout found: the newest 50 of a payout, for 7 days.
      create table payouts.checks (
        payout_id uuid not null,
        -- The first check is number 1.
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

      -- Receipts that payouts rest on, as nodes sent them. No read model.
      create table payouts.receipts (sha256 bytea primary key, receipt text not null);
      comment on table payouts.receipts is 'kept for payouts; sha256 is of the bytes of receipt';

      -- Payouts that may still be reported to a user; empty where the events are in PostgreSQL (ADR 103).
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
