import type { MigrationInterface, QueryRunner } from 'typeorm';
import { createIndexConcurrently } from '../../../platform/postgres/concurrent-index.js';

/** Whether any user, of whatever merchant, has a wallet. */
export class WalletsByAddress1764000000310 implements MigrationInterface {
  readonly name = 'WalletsByAddress1764000000310';
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    await createIndexConcurrently(queryRunner, {
      schema: 'users',
      index: 'wallets_by_address_alone',
      on: 'wallets (address)',
    });
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`drop index users.wallets_by_address_alone`);
  }
}
