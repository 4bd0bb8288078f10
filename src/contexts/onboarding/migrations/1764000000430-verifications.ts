import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Verifications and what their providers call them, and the stages of onboardings. */
export class Verifications1764000000430 implements MigrationInterface {
  readonly name = 'Verifications1764000000430';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table onboarding.verifications (
        verification_id uuid not null,
        provider text not null,
        user_id uuid not null,
        -- What the provider calls the person and the check.
        applicant text,
        check_reference text,
        applicant_mac text,
        -- Until when one process alone may open the check.
        check_claimed_until timestamptz,
        opened_at timestamptz not null default now(),
        last_answer text,
        answered_at timestamptz,
        primary key (verification_id, provider)
      );
      create index verifications_of_user on onboarding.verifications (user_id);
      create index verifications_by_check on onboarding.verifications (provider, check_reference)
        where check_reference is not null;

      create table onboarding.sandbox_reviews (
        verification_id uuid primary key,
        user_id uuid not null,
        opened_at timestamptz not null default now(),
        decided_at timestamptz,
        passed boolean,
        reason text
      );
      create index sandbox_reviews_of_user on onboarding.sandbox_reviews (user_id);

      create table onboarding.progress (
        user_id uuid primary key,
        merchant_id uuid not null,
        stage text not null,
        since timestamptz not null,
        reason text
      );
      create index progress_by_stage on onboarding.progress (stage, since);
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      drop table onboarding.progress;
      drop table onboarding.sandbox_reviews;
      drop table onboarding.verifications;
    `);
  }
}
