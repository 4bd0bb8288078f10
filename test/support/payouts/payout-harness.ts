import 'reflect-metadata';
import { TEST_USDC } from '../../../sandbox/contracts/test-usdc.js';
import { equal } from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll } from '@jest/globals';
import { CommandBus } from '@nestjs/cqrs';
import { ContractFactory } from 'ethers';
import { CommandLoop } from '../../../src/platform/event-store/command-loop.js';
import { EVENT_STORE, type EventStore, type RecordedEvent } from '../../../src/platform/event-store/port.js';
import { systemClock } from '../../../src/kernel/clock.js';
import { newId } from '../../../src/kernel/ids.js';
import { toMinorUnits } from '../../../src/kernel/money.js';
import {
  PayeeCache,
  ReportPayout,
  ReportPayoutHandler,
} from '../../../src/contexts/payouts/payouts/payouts.commands.js';
import { readConfig } from '../../../src/composition.js';
import { startService } from '../../../sandbox/service.js';
import type { Service } from '../../../src/service.js';
import { ActivateUser } from '../../../src/contexts/users/users.contract.js';
import { CreateUser } from '../../../src/contexts/users/users/users.commands.js';
import { CHAIN_ID, TestChain, USDC } from './chain.js';
import { eventually } from '../eventually.js';
import { plainTicket } from '../onboarding/people.js';
import { testDatabase, type TestDatabase } from '../postgres.js';
import { randomPhone } from './payout-calls.js';
import { TestNode } from './test-node.js';
import { chainConfig } from '../../../src/platform/config/config.js';
import { payoutsConfig } from '../../../src/contexts/payouts/payouts.config.js';

interface TestUser {
  readonly id: string;
  readonly merchantId: string;
  readonly wallet: string;
}

export interface TestReport {
  readonly hash: string;
  /** PayoutHarness.user by default. */
  readonly user?: TestUser;
  readonly amount?: string;
  readonly windowSeconds?: number;
}

/** A separate database and chain behind a node that can fail, with any number of worker processes. */
export class PayoutHarness {
  chain!: TestChain;
  node!: TestNode;
  db!: TestDatabase;
  user!: TestUser;
  private readonly services: Service[] = [];
  private readonly masterKey = randomBytes(32).toString('hex');

  /** The harness of a suite, with one process, whose node is honest again after each test. */
  static forSuite(settings: Readonly<Record<string, string>> = {}): PayoutHarness {
    const harness = new PayoutHarness();
    beforeAll(async () => {
      const [chain, db] = await Promise.all([TestChain.start(), testDatabase({ poolSize: 4 })]);
      Object.assign(harness, { chain, db, node: await TestNode.start(chain.rpcUrl) });
      await harness.start(settings);
      Object.assign(harness, { user: await harness.activeUser() });
    });
    afterEach(() => harness.node.comeBack());
    afterAll(async () => {
      await Promise.all(harness.services.map((service) => service.close()));
      await Promise.all([harness.node.stop(), harness.chain.stop(), harness.db.drop()]);
    });
    return harness;
  }

  async start(settings: Readonly<Record<string, string>> = {}): Promise<Service> {
    const config = readConfig({
      DATABASE_URL: this.db.url,
      DATABASE_POOL_SIZE: '6',
      CHAIN_RPC_URL: this.node.url,
      USDC_ADDRESS: this.chain.usdcAddress,
      MASTER_KEY: this.masterKey,
      ROLES: 'worker',
      METRICS_PORT: '0',
      LOG_LEVEL: 'silent',
      PAYOUT_CHECK_INTERVAL_MS: '50',
      ...settings,
    });
    const service = await startService(config);
    this.services.push(service);
    return service;
  }

  async makeDue(payoutId: string): Promise<void> {
    await this.db.database.query('update work.items set due_at = now() where key = $1', [payoutId]);
  }

  /** Adds a payout to verify that no event reported. */
  async forge(payout: { id: string; user: TestUser; hash: string; amountMinor: number; seconds: number }) {
    const { id, user, hash, amountMinor, seconds } = payout;
    await this.db.database.query(
      `with facts as (
         insert into payouts.verifications
           (payout_id, user_id, merchant_id, chain_id, hash, amount_minor, created_at, expires_at)
         values ($1, $2, gen_random_uuid(), ${CHAIN_ID}, $3, $4, now(), now() + make_interval(secs => $5))
       )
       insert into work.items (kind, key, due_at) values ('payouts.verification', $1::text, now())`,
      [id, user.id, hash, amountMinor, seconds],
    );
  }

  /** Creates a user in onboarding. `activate` assigns the wallet. */
  async newUser(): Promise<TestUser> {
    const user = { id: newId(), merchantId: newId(), wallet: this.chain.newAddress() };
    const body = { phone_number: randomPhone() };
    await this.bus.execute(new CreateUser(user.merchantId, body, plainTicket(user.id), {}));
    return user;
  }

  async activate(user: TestUser): Promise<void> {
    await this.bus.execute(new ActivateUser(user.id, user.wallet));
  }

  async activeUser(): Promise<TestUser> {
    const user = await this.newUser();
    await this.activate(user);
    return user;
  }

  /** Reports a payout and returns its id, by default of 1 USDC with an hour for its verification. */
  async report({ user = this.user, hash, amount = '1', windowSeconds = 3600 }: TestReport): Promise<string> {
    const { app } = this.service;
    const handler = new ReportPayoutHandler(
      app.get(CommandLoop),
      systemClock,
      { ...payoutsConfig({}), payoutVerificationWindowSeconds: windowSeconds },
      { ...chainConfig({}), chainId: CHAIN_ID },
      app.get(PayeeCache),
    );
    const id = newId();
    const { id: user_id, merchantId: merchant_id } = user;
    const report = { merchant_id, user_id, amount, transaction_hash: hash, custom_metadata: '{}' };
    await handler.execute(new ReportPayout(report, plainTicket(id), {}));
    return id;
  }

  async history(payoutId: string): Promise<readonly RecordedEvent[]> {
    return this.service.app.get<EventStore>(EVENT_STORE).readStream(`payout-${payoutId}`);
  }

  /** Returns `reported`, `received`, or the reason of the payout's expiry. */
  async outcome(payoutId: string): Promise<string> {
    const last = (await this.history(payoutId)).at(-1);
    if (last?.type === 'payout.expired.v1') return String(last.data['reason']);
    return last?.type.split('.')[1] ?? 'unknown';
  }

  /** Waits until the payout has its outcome, and returns it. */
  async settled(payoutId: string): Promise<string> {
    await eventually(async () => (await this.outcome(payoutId)) !== 'reported');
    return this.outcome(payoutId);
  }

  async isListed(payoutId: string): Promise<boolean> {
    const rows = await this.db.database.query('select from payouts.verifications where payout_id = $1', [
      payoutId,
    ]);
    return rows.length > 0;
  }

  /** Locks the checkpoint of a subscription until the returned function is called. */
  async holdCheckpoint(name: string): Promise<() => Promise<void>> {
    const holder = await this.db.pool.connect();
    await holder.query('begin');
    await holder.query('select from event_store.checkpoints where name = $1 for update', [name]);
    return async () => {
      await holder.query('rollback');
      holder.release();
    };
  }

  /** Waits until the last check found this. */
  async found(payoutId: string, finding: string): Promise<void> {
    const sql = 'select finding from payouts.checks where payout_id = $1 order by number desc limit 1';
    await eventually(async () => (await this.db.database.query(sql, [payoutId]))[0]?.['finding'] === finding);
  }

  async pay({ wallet } = this.user, amount = '1'): Promise<string> {
    return (await this.chain.transfer(wallet, amount)).hash;
  }

  /** Fails if one of the payouts has its outcome after three more checks of each. */
  async expectPending(...payoutIds: readonly string[]): Promise<void> {
    const checks = async (id: string): Promise<number> => {
      const sql = 'select coalesce(max(number), 0)::int as checks from payouts.checks where payout_id = $1';
      return (await this.db.database.query<{ checks: number }>(sql, [id]))[0]!.checks;
    };
    const before = await Promise.all(payoutIds.map(checks));
    const isPending = async (id: string): Promise<boolean> => (await this.outcome(id)) === 'reported';
    for (const [n, id] of payoutIds.entries()) {
      await eventually(async () => !(await isPending(id)) || (await checks(id)) >= before[n]! + 3);
      equal(await this.outcome(id), 'reported');
    }
  }

  /** Sends a transfer without waiting for a block. Returns its hash. */
  async broadcast(to: string, amount: string): Promise<string> {
    const data = USDC.encodeFunctionData('transfer', [to, toMinorUnits(amount)]);
    const transaction = { to: this.chain.usdcAddress, data, gasLimit: 100_000n };
    return (await this.chain.funded.sendTransaction(transaction)).hash;
  }

  /** Deploys the token again. Transfers of the copy are not USDC. */
  async otherToken(): Promise<string> {
    const { funded } = this.chain;
    const token = await new ContractFactory(TEST_USDC.abi, TEST_USDC.bytecode, funded).deploy(
      [await funded.getAddress()],
      1_000_000_000n,
    );
    await token.waitForDeployment();
    return token.getAddress();
  }

  get service(): Service {
    return this.services[0]!;
  }

  private get bus(): CommandBus {
    return this.service.app.get(CommandBus);
  }
}
