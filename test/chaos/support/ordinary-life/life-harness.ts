import 'reflect-metadata';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { count } from '../../../../bench/support/count.js';
import { eventually } from '../../../../bench/support/wait.js';
import { rpc } from '../../../../sandbox/chain.js';
import { invoke, type Run } from '../../../support/programs/cli.js';
import { asShell } from '../../../support/programs/disburse.js';
import { areCovered } from '../books.js';
import type { ServiceProcess } from '../../../../bench/support/service.js';
import type { Shared } from '../shared.js';
import type { Treasury } from '../treasury.js';
import { Tally, type Verdict } from '../verdict.js';

const BLOCK_MS = 500;
const SETTLE_MS = 180_000;
/** The number of batches between new ledger keys. The first key signs all later ones. */
const LEDGER_KEY_EVERY = 3;

/** The service, its chain, and the work of operators between batches. */
export class LifeHarness {
  readonly tally = new Tally();
  readonly keyFile: string;

  private constructor(
    readonly shared: Shared,
    readonly treasury: Treasury,
    readonly rpcUrl: string,
    readonly service: ServiceProcess,
    private readonly programEnv: NodeJS.ProcessEnv,
    private readonly verdict: Verdict,
  ) {
    const folder = shared.environment.folder('auditor');
    mkdirSync(folder);
    this.keyFile = join(folder, 'key.pem');
    // Payouts expire by the time of blocks.
    const mining = setInterval(() => void rpc(rpcUrl, 'anvil_mine', []).catch(() => undefined), BLOCK_MS);
    shared.ends.add(() => clearInterval(mining));
  }

  static async start(shared: Shared, verdict: Verdict): Promise<LifeHarness> {
    const { rpcUrl, usdcAddress } = await shared.chain();
    const service = await shared.service('service', {
      AUDIT_HEAD_SECONDS: '1',
      OPERATIONS_APPROVALS: 'off',
      ONBOARDING_CODES_PER_ADDRESS: '1000000',
      PAYOUT_VERIFICATION_WINDOW_SECONDS: '6',
      PAYOUT_CHECK_INTERVAL_MS: '100',
      EXCHANGE_ORDER_EXPIRY_SECONDS: '6',
      EXCHANGE_PAID_WAIT_SECONDS: '8',
      EXCHANGE_CHECK_INTERVAL_MS: '100',
      EXCHANGE_SCAN_INTERVAL_MS: '100',
    });
    const env = {
      DATABASE_URL: shared.databaseUrl,
      MASTER_KEY: shared.masterKey,
      CHAIN_RPC_URL: rpcUrl,
      USDC_ADDRESS: usdcAddress,
      ROLES: 'api',
    };
    const harness = new LifeHarness(shared, await shared.treasury(), rpcUrl, service, env, verdict);
    await harness.covered();
    writeFileSync(harness.keyFile, (await harness.operate('audit', 'key')).printed);
    return harness;
  }

  async operate(name: string, ...args: readonly string[]): Promise<Run> {
    return invoke(name, this.programEnv, ...args).catch((error: Error) => ({
      printed: String(error.stack),
      exitCode: 1,
    }));
  }

  /** Runs an operator's program and returns its output. Throws if it fails. */
  async done(name: string, ...args: readonly string[]): Promise<string> {
    const { exitCode, printed } = await this.operate(name, ...args);
    const words = [name, ...args].filter((word) => /^[a-z][a-z-]*$/.test(word));
    this.tally.add(words.slice(0, 3).join(' '));
    if (exitCode !== null) throw new Error(`${name} ${args.join(' ')}: ${exitCode} ${printed}`);
    return printed;
  }

  /** Runs a command of the admin API and returns its response. Throws if it fails. */
  async admin<T = object>(...args: readonly string[]): Promise<T> {
    this.tally.add(args.slice(0, 2).join(' '));
    const reason = ['list', 'show'].includes(args[1]!) ? [] : ['--reason', 'requested by the customer'];
    return asShell<T>(this.service.dir, ...args, ...reason);
  }

  async audited(when: string, ...args: readonly string[]): Promise<void> {
    const { exitCode, printed } = await this.operate('audit', 'verify', ...args);
    this.verdict.expect(exitCode === null, `${when} everything is in order`, printed);
  }

  async maintain(batch: number): Promise<void> {
    await this.done('rebuild');
    await this.rotateCredentials();
    if (batch % LEDGER_KEY_EVERY === 0) await this.done('audit', 'key', 'rotate');
  }

  async settled(): Promise<void> {
    const { pool } = this.shared;
    const isSettled = async (): Promise<boolean> =>
      (await count(pool, 'payouts.payouts where status = 0')) === 0 &&
      (await count(pool, 'exchange.orders where status < 3')) === 0;
    await eventually('no payout and no order is pending', isSettled, SETTLE_MS);
    await this.covered();
  }

  private covered(): Promise<void> {
    return eventually('every event is under a head', () => areCovered(this.shared.pool), SETTLE_MS);
  }

  private async rotateCredentials(): Promise<void> {
    type Written = { readonly credential: { readonly id: string } };
    const { apiKey } = this.service.merchant;
    const create = (kind: string): Promise<Written> =>
      this.admin('credentials', 'create', '--kind', kind, '--name', 'second', '--merchant-id', apiKey);
    const issued = await create('payouts');
    await this.admin('credentials', 'revoke', issued.credential.id);
    const former = await create('exchange');
    const rolled = await this.admin<Written>('credentials', 'roll', former.credential.id);
    for (const { credential } of [former, rolled]) await this.admin('credentials', 'revoke', credential.id);
  }
}
