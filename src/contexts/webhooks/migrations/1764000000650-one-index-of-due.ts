import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What is due is asked for by endpoint alone. With an index by time beside it, PostgreSQL took that one where it knew few
 * endpoints, and a claim for a small endpoint read through the backlog of a large one.
 */
export class OneIndexOfDue1764000000650 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('drop index webhooks.deliveries_next');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(
      "create index deliveries_next on webhooks.deliveries (due_at) where state = 'pending' and leased_by is null",
    );
  }
}
