import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What rounds of a delivery (resends), pages of deliveries and chunks of recoveries need to know. */
export class WebhookRounds1764000000630 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table webhooks.deliveries
        -- As exact as a cursor of the lists of it: a finer time would lose rows between two pages.
        alter column created_at type timestamptz(3),
        -- A resend that was asked for while an attempt was under way: unless that succeeds, a new round follows it.
        add column resend_asked boolean not null default false,
        -- Position of the last resend: an event seen again begins no further round.
        add column resent_position text;

      alter table webhooks.recoveries
        -- The last delivery that was looked at: the next chunk begins after it.
        add column after_created_at timestamptz(3),
        add column after_delivery_id uuid;
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table webhooks.recoveries drop column after_created_at, drop column after_delivery_id;
      alter table webhooks.deliveries
        drop column resend_asked, drop column resent_position, alter column created_at type timestamptz;
    `);
  }
}
