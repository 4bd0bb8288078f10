import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Read models of payouts (`payouts.payouts`, `payouts.balances`) and the work of verifying them on the chain. */
export class Payouts1764000000500 implements MigrationInterface {
  readonly name = 'Payouts1764000000500';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`create schema payouts`);
    await queryRunner.query(`
      create table payouts.payouts (
        id uuid primary key,
        merchant_id uuid not null,
        user_id uuid not null,
        status smallint not null check (status in (0, 1, 2)),
        created_at timestamptz not null,
        amount_minor bigint not null,
        body text not null
      )`);
    // The two indexes serve every filter: a list without a status merges the three statuses.
    await queryRunner.query(`
      create index payouts_by_merchant on payouts.payouts (merchant_id, status, created_at desc, id desc)`);
    await queryRunner.query(`
      create index payouts_by_user on payouts.payouts (merchant_id, user_id, status, created_at desc, id desc)`);
    // Compressing a body costs more than its bytes.
    await queryRunner.query(`alter table payouts.payouts alter column body set storage external`);
    await queryRunner.query(`comment on column payouts.payouts.status is '0 pending, 1 received, 2 expired'`);
    await queryRunner.query(`
      comment on column payouts.payouts.body is 'the payout as the API answers it, byte for byte'`);

    // Half-empty pages keep the running totals' updates on their page and out of the index.
    await queryRunner.query(`
      create table payouts.balances (
        user_id uuid primary key,
        merchant_id uuid not null,
        confirmed bigint not null default 0,
        pending bigint not null default 0
      ) with (fillfactor = 50)`);
    await queryRunner.query(`
      comment on table payouts.balances is 'one row per user, in minor units of USDC (0.000001)'`);

    await queryRunner.query(`
      create table payouts.verifications (
        payout_id uuid primary key,
        user_id uuid not null,
        chain_id bigint not null,
        hash text not null,
        amount_minor bigint not null,
        created_at timestamptz not null,
        expires_at timestamptz not null,
        next_check_at timestamptz not null,
        last_finding text
      ) with (fillfactor = 70)`);
    await queryRunner.query(`
      create index verifications_due on payouts.verifications (chain_id, next_check_at)`);
    await queryRunner.query(`create index verifications_by_user on payouts.verifications (user_id)`);
    await queryRunner.query(`
      create table payouts.wallets (user_id uuid primary key, address text not null)`);
    await queryRunner.query(`
      create table payouts.used_transfers (
        chain_id bigint not null,
        hash text not null,
        log_index integer not null,
        payout_id uuid not null,
        primary key (chain_id, hash, log_index)
      )`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`drop schema payouts cascade`);
  }
}
