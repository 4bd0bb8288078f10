import type { MigrationInterface, QueryRunner } from 'typeorm';

/** MACs of sessions and one-time secrets of the console; a row from before has none, and is invalid. */
export class LoginMacs1795000000990 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table access.console_sessions add column mac text;
      alter table access.login_secrets add column mac text;
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table access.console_sessions drop column mac;
      alter table access.login_secrets drop column mac;
    `);
  }
}
