import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What automatic disabling, rotated secrets, resending and recovering need to know. */
export class WebhookCare1764000000610 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table webhooks.endpoints add column disabled_at text;
      update webhooks.endpoints set disabled_at = updated_at where status = 'disabled';

      alter table webhooks.lanes
        -- Failed attempts that began earlier do not count: enabling an endpoint clears its count.
        add column failures_since timestamptz not null default '-infinity',
        -- Replaced secrets that still sign: [{"sealed": text, "expires_at": ISO 8601}], newest first.
        add column former_secrets jsonb not null default '[]';

      alter table webhooks.deliveries
        -- Attempts of earlier rounds: after a resend the retry schedule begins anew, the numbers of attempts go on.
        add column attempts_before int not null default 0;
      -- What an endpoint has not got, for recovering it and for lists of it.
      create index deliveries_unsent on webhooks.deliveries (endpoint_id, created_at, delivery_id)
        where state in ('exhausted', 'dropped');

      -- Recoveries that were asked for. A worker takes them in chunks; finished_at says that nothing is left.
      create table webhooks.recoveries (
        recovery_id uuid primary key,
        endpoint_id uuid not null,
        merchant_id uuid not null,
        since timestamptz not null,
        -- What ends later than this is not taken again: a delivery that is exhausted once more stays so.
        accepted_at timestamptz not null default clock_timestamp(),
        finished_at timestamptz,
        recovered int not null default 0
      );
      create index recoveries_open on webhooks.recoveries (accepted_at) where finished_at is null;
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      drop table webhooks.recoveries;
      drop index webhooks.deliveries_unsent;
      alter table webhooks.deliveries drop column attempts_before;
      alter table webhooks.lanes drop column failures_since, drop column former_secrets;
      alter table webhooks.endpoints drop column disabled_at;
    `);
  }
}
