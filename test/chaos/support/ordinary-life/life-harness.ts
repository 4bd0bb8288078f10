import { execFile, fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Service } from '../../../../bench/support/service.js';
import { eventually } from '../../../../bench/support/wait.js';
import { rpc } from '../../../../sandbox/chain.js';
import { freePort, until } from '../../../../sandbox/processes.js';
import { Shared } from '../shared.js';
import { Treasury } from '../treasury.js';
import { Tally, type Verdict } from '../verdict.js';

const PROGRAMS = fileURLToPath(new URL('../../../../dist/cli.js', import.meta.url));
const OPERATOR = fileURLToPath(new URL('operator-process.mjs', import.meta.url));
const BLOCK_MS = 500;
const SETTLE_MS = 180_000;
/** Two reads of the key ring by a process. */
const REFRESHED_MS = 12_000;
/** Longer than a new master key, or a key that was added, has to wait. */
const LATER_SECONDS = 150;
/** In batches: the first key of the ledger signs all later ones. */
const LEDGER_KEY_EVERY = 3;
/** Not the first ones: a small run has no time for it. */
const MASTER_KEY_EVERY = 4;

interface Ran {
  readonly code: unknown;
  readonly printed: string;
}

/** The service, its chain, and what operators do between batches. */
export class LifeHarness {
  readonly tally = new Tally();
  private readonly folder = mkdtempSync(join(tmpdir(), 'disburse-life-'));
  readonly keyFile = join(this.folder, 'key.pem');
  private masterKey = randomBytes(32).toString('hex');
  service!: Service;
  widgetPort = 0;
  private mining: NodeJS.Timeout | undefined;
  private readonly operator: ChildProcess = fork(OPERATOR);
  private readonly pending = new Map<number, (ran: Ran) => void>();

  private constructor(
    readonly shared: Shared,
    readonly treasury: Treasury,
    readonly rpcUrl: string,
    private readonly verdict: Verdict,
  ) {}

  static async start(verdict: Verdict): Promise<LifeHarness> {
    const shared = await Shared.start();
    const chain = await shared.chain();
    const harness = new LifeHarness(shared, await Treasury.of(chain), chain.rpcUrl, verdict);
    // Payouts expire by the time of blocks.
    harness.mining = setInterval(
      () => void rpc(chain.rpcUrl, 'anvil_mine', []).catch(() => undefined),
      BLOCK_MS,
    );
    harness.operator.on('message', ({ id, ...ran }: Ran & { readonly id: number }) =>
      harness.pending.get(id)?.(ran),
    );
    await Promise.all([harness.open(), once(harness.operator, 'message')]);
    await harness.covered();
    writeFileSync(harness.keyFile, (await harness.program('audit', 'key')).printed);
    return harness;
  }

  async end(): Promise<void> {
    clearInterval(this.mining);
    this.operator.disconnect();
    await this.shared.close();
    rmSync(this.folder, { recursive: true });
  }

  /** An operator's program, with the master key. */
  async program(...args: readonly string[]): Promise<Ran> {
    const env = await this.programEnv();
    return new Promise((resolve) => {
      execFile(process.execPath, [PROGRAMS, ...args], { env, maxBuffer: 2 ** 26 }, (error, stdout, stderr) =>
        resolve({ code: error === null ? 0 : error.code, printed: stdout + stderr }),
      );
    });
  }

  /** The same, in a process that lives on. */
  async operate(name: string, ...args: readonly string[]): Promise<Ran> {
    const env = await this.programEnv();
    return new Promise((resolve) => {
      const id = this.pending.size;
      this.pending.set(id, resolve);
      this.operator.send({ id, name, args, env });
    });
  }

  /** What operators do between batches. */
  async maintain(batch: number): Promise<void> {
    const rebuilt = await this.program('rebuild');
    this.verdict.expect(rebuilt.code === 0, 'a rebuild finds no difference', rebuilt.printed);
    await this.rotateCredentials();
    if (batch % LEDGER_KEY_EVERY === 0) await this.done('audit', 'key', 'rotate');
    if (batch % MASTER_KEY_EVERY === MASTER_KEY_EVERY - 1) await this.rotateMasterKey();
  }

  /** No payout or order is pending, and every event is under a signed head. */
  async settled(): Promise<void> {
    await eventually(
      'no payout and no order is pending',
      async () => {
        const { rows } = await this.shared.pool.query<{ open: number }>(
          `select (select count(*) from payouts.payouts where status = 0)::int
             + (select count(*) from exchange.orders where status < 3)::int as open`,
        );
        return rows[0]!.open === 0;
      },
      SETTLE_MS,
    );
    await this.covered();
  }

  private async covered(): Promise<void> {
    await eventually(
      'every event is under a head',
      async () => {
        const { rows } = await this.shared.pool.query<{ covered: boolean }>(
          'select max(size) = (select count(*) from event_store.events) as covered from audit.heads',
        );
        return rows[0]!.covered;
      },
      SETTLE_MS,
    );
  }

  private async open(former?: string): Promise<void> {
    this.widgetPort = await freePort();
    this.service = await this.shared.service('service', {
      MASTER_KEY: this.masterKey,
      ...(former === undefined ? {} : { MASTER_KEY_FORMER: former }),
      WIDGET_PORT: String(this.widgetPort),
      AUDIT_HEAD_SECONDS: '1',
      ONBOARDING_CODES_PER_ADDRESS: '1000000',
      PAYOUT_VERIFICATION_WINDOW_SECONDS: '6',
      PAYOUT_CHECK_INTERVAL_MS: '100',
      EXCHANGE_ORDER_EXPIRY_SECONDS: '6',
      EXCHANGE_PAID_WAIT_SECONDS: '8',
      EXCHANGE_CHECK_INTERVAL_MS: '100',
      EXCHANGE_SCAN_INTERVAL_MS: '100',
    });
  }

  async done(name: string, ...args: readonly string[]): Promise<string> {
    const { code, printed } = await this.operate(name, ...args);
    this.tally.add(
      [name, ...args]
        .filter((word) => /^[a-z][a-z-]*$/.test(word))
        .slice(0, 3)
        .join(' '),
    );
    if (code !== 0) throw new Error(`${name} ${args.join(' ')}: ${String(code)} ${printed}`);
    return printed;
  }

  /** A second private key of a merchant and a second secret of an exchange key, which are revoked again. */
  private async rotateCredentials(): Promise<void> {
    const { merchants } = JSON.parse(await this.done('merchant', 'list', '--json')) as {
      readonly merchants: readonly { readonly merchant_id: string }[];
    };
    const merchant = merchants[0]!.merchant_id;
    const issued = JSON.parse(await this.done('merchant', 'issue-key', merchant, '--json')) as {
      key_id: string;
    };
    await this.done('merchant', 'revoke-key', merchant, issued.key_id);
    const { api_key: key } = this.service.exchange;
    const secret = JSON.parse(await this.done('exchange', 'key', 'rotate', key, '--json')) as {
      secret_id: string;
    };
    await this.done('exchange', 'key', 'revoke-secret', key, secret.secret_id);
  }

  private async rotateMasterKey(): Promise<void> {
    const former = this.masterKey;
    this.masterKey = randomBytes(32).toString('hex');
    await this.service.child.stop();
    await this.open(former);
    const { pool } = this.shared;
    await this.sealSince(0);
    await sleep(REFRESHED_MS);
    await this.sealSince(LATER_SECONDS);
    this.verdict.expect(await this.resealed(), 'personal keys are wrapped by the fresh key');
    await pool.query('update platform.key_ring set seen_at = seen_at - make_interval(secs => $1)', [
      LATER_SECONDS,
    ]);
    await this.done('keys', 'retire-former');
  }

  /** As if the newest key had been added so long before. */
  private async sealSince(seconds: number): Promise<void> {
    await this.shared.pool.query(
      `update platform.key_ring set seals_from = now() - make_interval(secs => $1)
       where seals_from = (select max(seals_from) from platform.key_ring)`,
      [seconds],
    );
  }

  /** Whether the worker has wrapped every personal key with the newest key in time. */
  private resealed(): Promise<boolean> {
    return until(async () => {
      const { rows } = await this.shared.pool.query(
        `select from platform.personal_keys where split_part(wrapped_key, '.', 2) <> (
           select key_id from platform.key_ring where seals_from <= now() order by seals_from desc limit 1) limit 1`,
      );
      return rows.length === 0;
    }, 60_000);
  }

  private async programEnv(): Promise<NodeJS.ProcessEnv> {
    const { rpcUrl, usdcAddress } = await this.shared.chain();
    const secrets = { DATABASE_URL: await this.shared.databaseUrl(), MASTER_KEY: this.masterKey };
    return {
      PATH: process.env['PATH'],
      CHAIN_RPC_URL: rpcUrl,
      USDC_ADDRESS: usdcAddress,
      ROLES: 'api',
      ...secrets,
    };
  }
}
