import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Counters of the rate limit per merchant, in the form rate-limiter-flexible expects. Unlogged: losing them is harmless. */
export class RateLimits1764000000100 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('create schema if not exists platform');
    await runner.query(`
      create unlogged table platform.rate_limits (
        key varchar(255) primary key,
        points integer not null default 0,
        expire bigint
      ) with (fillfactor = 50)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table platform.rate_limits');
  }
}
