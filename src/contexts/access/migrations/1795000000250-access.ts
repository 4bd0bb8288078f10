import type { MigrationInterface, QueryRunner } from 'typeorm';

export class Access1795000000250 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create schema access;

      create table access.merchants (
        merchant_id uuid primary key,
        name text not null,
        status text not null,
        registered_at timestamptz not null,
        -- Which sites may embed its pages, where these lead back to, and the name they display.
        origins text[] not null default '{}',
        callbacks text[] not null default '{}',
        display_name text,
        -- Empty: calls may come from anywhere.
        ip_allow_list text[] not null default '{}',
        -- Null: the default.
        requests_per_minute integer
      );

      create table access.operators (
        operator_id uuid primary key,
        name text not null,
        email text not null,
        role text not null,
        status text not null,
        created_at timestamptz not null,
        -- The last time, also of one who was enabled again: logins from before are worth nothing.
        disabled_at timestamptz
      );

      create table access.credentials (
        credential_id uuid primary key,
        -- The merchant or the operator, whose events decide.
        owner_id uuid not null,
        kind text not null,
        -- Shared by credentials that replace each other.
        key_id uuid not null,
        merchant_id uuid,
        operator_id uuid,
        name text,
        scopes text[] not null,
        -- Null: all.
        merchants uuid[],
        addresses text[] not null,
        -- Of exchange keys.
        withdraw_addresses text[],
        demands_signing boolean,
        memo_signing text,
        -- Null where no signature needs the secret.
        sealed_secret text,
        secret_hash text not null,
        is_pending boolean not null,
        created_at timestamptz not null,
        expires_at timestamptz,
        -- Another one replaces it; it is valid until then.
        rolling_until timestamptz,
        revoked_at timestamptz
      );
      create index credentials_of_key on access.credentials (key_id);
      create index credentials_of_merchant on access.credentials (merchant_id);
      create index credentials_of_operator on access.credentials (operator_id);
      create index credentials_by_hash on access.credentials (secret_hash);
      create index credentials_by_time on access.credentials (created_at desc, credential_id desc);

      -- Of the console; tokens are keyed hashes.
      create table access.console_sessions (
        session_id uuid primary key,
        token_hash text not null unique,
        operator_id uuid not null,
        method text not null check (method in ('passkey', 'oidc', 'link')),
        address text not null,
        authenticated_at timestamptz not null,
        last_seen_at timestamptz not null,
        expires_at timestamptz not null,
        ended_at timestamptz,
        mac text
      );
      create index console_sessions_of_operator on access.console_sessions (operator_id) where ended_at is null;
      create index console_sessions_expired on access.console_sessions (expires_at);

      -- One-time links and challenges of WebAuthn, as keyed hashes; one that was used is gone.
      create table access.login_secrets (
        hash text primary key,
        purpose text not null check (purpose in ('link', 'enrol', 'passkey')),
        operator_id uuid,
        expires_at timestamptz not null,
        mac text
      );
      create index login_secrets_expired on access.login_secrets (expires_at);
      create index login_secrets_of_operator on access.login_secrets (operator_id) where operator_id is not null;

      -- Sealed, for a day; null afterwards.
      create table access.new_secrets (
        secret_id uuid primary key,
        sealed text,
        created_at timestamptz not null
      );
      create index new_secrets_by_time on access.new_secrets (created_at);

      create table access.passkey_counters (
        passkey_id text primary key,
        counter bigint not null,
        used_at timestamptz not null
      );
    `);
    await runner.query(`
      -- The last seven days, without bodies and values of queries. RequestPartitions creates a partition per day.
      create table access.requests (
        request_id uuid not null,
        merchant_id uuid not null,
        credential_id uuid,
        at timestamptz not null,
        method text not null,
        path text not null,
        query_names text[] not null,
        status smallint not null,
        duration_ms real not null,
        refusal text,
        string_to_sign text
      ) partition by range (at);
      create index requests_of_merchant on access.requests (merchant_id, at desc, request_id desc);
      create index requests_newest on access.requests (at desc, request_id desc);
      create index requests_by_id on access.requests (request_id);
      create index requests_refused on access.requests (merchant_id, status, at desc, request_id desc)
        where status >= 400;

      create table access.daily_requests (
        merchant_id uuid not null,
        day date not null,
        requests bigint not null,
        refused bigint not null,
        primary key (merchant_id, day)
      );
      create index daily_requests_by_day on access.daily_requests (day);

      create table access.credential_uses (
        credential_id uuid primary key,
        last_used_at timestamptz not null
      );

      create table access.portal_sessions (
        session_id uuid primary key,
        merchant_id uuid not null,
        -- Sealed.
        actor text,
        scopes text[] not null,
        return_url text,
        created_at timestamptz not null,
        code_expires_at timestamptz not null,
        session_expires_at timestamptz,
        revoked_at timestamptz
      );
      create index portal_sessions_of_merchant
        on access.portal_sessions (merchant_id, created_at desc, session_id desc);

      create table access.portal_session_uses (
        session_id uuid primary key,
        last_seen_at timestamptz not null
      );
      create index portal_sessions_unused on access.portal_session_uses (last_seen_at);
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop schema access cascade');
  }
}
