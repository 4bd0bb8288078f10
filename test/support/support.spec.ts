import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { TestChain } from './payouts/chain.js';
import { Redis } from 'ioredis';
import { testDatabase, type TestDatabase } from './postgres.js';
import { TestRedis } from './programs/redis.js';

let chain: TestChain;
let db: TestDatabase;

beforeAll(async () => {
  [chain, db] = await Promise.all([TestChain.start(), testDatabase()]);
});

afterAll(async () => {
  await Promise.all([chain.stop(), db.drop()]);
});

test('a test database is a separate one of a real PostgreSQL 18', async () => {
  const other = await testDatabase();
  await db.database.query('create table only_here (id int)');
  const found = await other.database.query<{ there: string | null }>(
    "select to_regclass('only_here') as there",
  );
  const [version] = await db.database.query<{ server_version: string }>('show server_version');
  expect(found[0]?.there).toBeNull();
  expect(version?.server_version).toMatch(/^18\./);
  await other.drop();
});

test('a test chain moves USDC, and a reorg takes it back', async () => {
  const to = chain.newAddress();
  const receipt = await chain.transfer(to, '12.5');
  expect(await chain.balanceOf(to)).toBe(12_500_000n);
  await chain.reorg(1);
  expect(await chain.balanceOf(to)).toBe(0n);
  expect(await chain.provider.getTransactionReceipt(receipt.hash)).toBeNull();
  await chain.transfer(to, '1');
  expect(await chain.balanceOf(to)).toBe(1_000_000n);
});

test('a transfer of somebody without USDC is mined and reverts', async () => {
  const hash = await chain.revertedTransfer(chain.newAddress(), '1');
  expect((await chain.provider.getTransactionReceipt(hash))?.status).toBe(0);
});

test('a test Redis responds', async () => {
  const redis = await TestRedis.start();
  if (redis === null) return;
  const client = new Redis(redis.url);
  expect(await client.ping()).toBe('PONG');
  client.disconnect();
  await redis.stop();
}, 200_000);
