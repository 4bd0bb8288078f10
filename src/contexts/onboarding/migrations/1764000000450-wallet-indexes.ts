import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Which child of which extended public key is the wallet of a user. */
export class WalletIndexes1764000000450 implements MigrationInterface {
  readonly name = 'WalletIndexes1764000000450';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      -- The next index of each key, by the key's fingerprint; its row is locked while an index is given out.
      create table onboarding.wallet_keys (
        key text primary key,
        next_index bigint not null
      );

      create table onboarding.wallet_indexes (
        user_id uuid primary key,
        key text not null,
        index bigint not null,
        unique (key, index)
      );
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table onboarding.wallet_indexes; drop table onboarding.wallet_keys');
  }
}
