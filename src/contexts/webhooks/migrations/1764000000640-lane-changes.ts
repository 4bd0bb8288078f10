import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A number that changes with every change of a lane, so that senders need not look at each of them again and again. */
export class LaneChanges1764000000640 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table webhooks.lane_changes (version bigint not null);
      insert into webhooks.lane_changes values (0);
      -- Whoever changes lanes, and however: in the same transaction.
      create function webhooks.count_lane_change() returns trigger language plpgsql as $$
      begin
        update webhooks.lane_changes set version = version + 1;
        return null;
      end $$;
      create trigger lane_changes after insert or update or delete or truncate on webhooks.lanes
        for each statement execute function webhooks.count_lane_change();
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      drop trigger lane_changes on webhooks.lanes;
      drop function webhooks.count_lane_change();
      drop table webhooks.lane_changes;
    `);
  }
}
