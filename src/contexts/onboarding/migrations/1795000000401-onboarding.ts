import type { MigrationInterface, QueryRunner } from 'typeorm';

export class Onboarding1795000000401 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create schema onboarding;

      -- One row for each message of the last 24 hours.
      create table onboarding.phone_codes (
        id uuid primary key,
        user_id uuid not null,
        -- Keyed hashes: a short code is valid in its browser; requests are limited per address.
        browser_hash text not null,
        address_hash text,
        code_hash text not null,
        is_long boolean not null,
        attempts_left int not null,
        sent_at timestamptz not null default now()
      );
      create index phone_codes_user on onboarding.phone_codes (user_id);
      create index phone_codes_address on onboarding.phone_codes (address_hash);
      create index phone_codes_sent on onboarding.phone_codes (sent_at);

      -- Verifications at the providers.
      create table onboarding.verifications (
        verification_id uuid not null,
        provider text not null,
        user_id uuid not null,
        -- The provider's ids of the person and the check.
        applicant text,
        check_reference text,
        applicant_mac text,
        -- The end of the lease of the process that opens the check.
        check_claimed_until timestamptz,
        opened_at timestamptz not null default now(),
        -- The decision of an operator, in the sandbox.
        passed boolean,
        reason text,
        primary key (verification_id, provider)
      );
      create index verifications_of_user on onboarding.verifications (user_id);
      create index verifications_by_check on onboarding.verifications (provider, check_reference)
        where check_reference is not null;

      create table onboarding.progress (
        user_id uuid primary key,
        merchant_id uuid not null,
        stage text not null,
        since timestamptz not null,
        reason text
      );
      create index progress_by_stage on onboarding.progress (stage, since);

      -- Images for the identity provider, sealed with the key of the person.
      create table onboarding.images (
        user_id uuid not null,
        kind text not null,
        type text not null,
        sealed text not null,
        stored_at timestamptz not null default now(),
        primary key (user_id, kind)
      );
      create index images_stored_at on onboarding.images (stored_at);

      -- The next index of each key, by the key's fingerprint; its row is locked while an index is given out.
      create table onboarding.wallet_keys (
        key text primary key,
        next_index bigint not null
      );

      -- The index of each user's wallet below an extended public key.
      create table onboarding.wallet_indexes (
        user_id uuid primary key,
        key text not null,
        index bigint not null,
        unique (key, index)
      );

      -- The objects at Stripe for the card of a user: ids only.
      create table onboarding.stripe_cards (
        user_id uuid primary key,
        -- Part of the idempotency keys; grows where Stripe would repeat a stored failure.
        generation int not null default 1,
        -- Everything created for the user was created in between.
        first_requested_at timestamptz not null default now(),
        last_requested_at timestamptz not null default now(),
        cardholder_id text,
        card_id text,
        -- Set for an erased person: no further card is requested.
        forgotten_at timestamptz
      );
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop schema onboarding cascade');
  }
}
