import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { eventually } from '../../../../bench/support/wait.js';
import type { LedgerFinding } from '../../../../src/contexts/audit/verify/findings.js';
import { SignedClient } from '../../../support/http/signed-client.js';
import { ExchangeClient } from '../../../support/exchange/exchange-client.js';
import { invoke } from '../../../support/programs/cli.js';
import { TestReceiver } from '../../../support/webhooks/receiver.js';
import { areCovered } from '../books.js';
import { SALE } from '../orders/order-facts.js';
import { createPayee, createUser, reported } from '../../../support/payouts/payout-calls.js';
import { CREATE_USER, expectStatus, REGISTER_ENDPOINT } from '../payouts.js';
import type { Random } from '../random.js';
import type { ServiceProcess } from '../../../../bench/support/service.js';
import type { Shared } from '../shared.js';
import type { Verdict } from '../verdict.js';

const ROUNDS = 4;
const HEAD_MS = 1000;
const DEADLOCK = '40P01';
/** A copy of the history without a service. */
const FROZEN = 'frozen';

/** Tamperings of one kind, several at a time. */
export interface Group {
  /** The percentage of all tamperings. */
  readonly percent: number;
  /** The number of tamperings before each check. */
  readonly atOnce: number;
  /** The service refuses to work meanwhile, and is ready again afterwards. */
  readonly stops?: true;
  /** Tampers at most `count` times, checks, and restores the database. Returns a name for each change. */
  run(harness: TamperingHarness, random: Random, count: number): Promise<readonly string[]>;
}

export interface StoredRow {
  readonly position: string;
  readonly stream: string;
  readonly revision: number;
  readonly id: string;
  readonly type: string;
  readonly data: string;
  readonly metadata: string;
}

export interface Verified {
  readonly exitCode: number | null;
  /** The reason why nothing else was verified: the log ends before the service's position. */
  readonly missing: string | null;
  readonly findings: readonly LedgerFinding[];
  /** Differences of rows from a replay, and of the catalogue. */
  readonly differences: readonly string[];
}

/** A history created over HTTP, and a service with follower, signer and workers whose database is changed. */
export class TamperingHarness {
  private copies = 0;

  private constructor(
    readonly shared: Shared,
    readonly service: ServiceProcess,
    readonly verdict: Verdict,
    readonly receiver: TestReceiver,
    /** The forger's connection, with every right but the master key. */
    readonly db: pg.Client,
    private readonly endpoint: string,
  ) {}

  static async start(shared: Shared, verdict: Verdict): Promise<TamperingHarness> {
    const receiver = await shared.ends.start(TestReceiver.start());
    const env = { AUDIT_HEAD_SECONDS: String(HEAD_MS / 1000), PAYOUT_CHECK_INTERVAL_MS: '50' };
    const service = await shared.service('service', env);
    const endpoint = await createHistory(shared, service, receiver.url);
    await service.kill();
    await shared.copyDatabase(FROZEN);
    await service.start();
    const db = new pg.Client({ connectionString: shared.databaseUrl });
    await db.connect();
    shared.ends.add(() => db.end());
    const harness = new TamperingHarness(shared, service, verdict, receiver, db, endpoint);
    await harness.works();
    return harness;
  }

  /**
   * Returns all events of a copy, or those of the service without key events. A changed key event would cause
   * 503 for its owner's requests, including those of the suite.
   */
  async events(copy?: pg.Client): Promise<readonly StoredRow[]> {
    const { rows } = await (copy ?? this.db).query<StoredRow>(
      `select position, stream, revision, id, type, data, metadata from event_store.events
       where $1 or stream not like 'credentials-%' order by position`,
      [copy !== undefined],
    );
    return rows;
  }

  /** Verifies the service's database or a copy, with the master key unless `masterKey` is null. */
  async verify(
    url = this.shared.databaseUrl,
    options: readonly string[] = [],
    masterKey: string | null = this.shared.masterKey,
  ): Promise<Verified> {
    const env = { DATABASE_URL: url, ...(masterKey !== null && { MASTER_KEY: masterKey }) };
    const { printed, exitCode } = await invoke('audit', env, '--json', 'verify', ...options);
    const { missing_events, ledger, differences } = JSON.parse(printed) as {
      readonly missing_events?: string;
      readonly ledger?: { readonly findings: readonly LedgerFinding[] };
      readonly differences?: readonly string[];
    };
    return {
      exitCode,
      missing: missing_events ?? null,
      findings: ledger?.findings ?? [],
      differences: differences ?? [],
    };
  }

  /** The number of events under the newest head. */
  async signed(): Promise<number> {
    const { rows } = await this.db.query<{ size: string }>('select max(size) as size from audit.heads');
    return Number(rows[0]!.size);
  }

  async write(): Promise<void> {
    expectStatus(await this.service.client.post(CREATE_USER.path, CREATE_USER.body('')), 201);
  }

  /** Runs statements in one transaction, without triggers and foreign keys. Retries after a deadlock. */
  async change(statements: string): Promise<void> {
    for (;;) {
      try {
        await this.db.query(`begin; set local session_replication_role = replica; ${statements}; commit`);
        return;
      } catch (error) {
        await this.db.query('rollback');
        if ((error as { code?: unknown }).code !== DEADLOCK) throw error;
      }
    }
  }

  ticks(): Promise<void> {
    return sleep(HEAD_MS + 100);
  }

  /** The restored service is ready and signs new events. */
  async works(): Promise<void> {
    const path = `${REGISTER_ENDPOINT.path}/${this.endpoint}/test_delivery`;
    expectStatus(await this.service.client.post(path), 202);
    await this.covered();
    await eventually('the service is ready', async () => (await this.service.health()).ready);
  }

  async untouched(): Promise<void> {
    await this.covered();
    const { exitCode, ...found } = await this.verify();
    this.verdict.expect(exitCode === null, 'an untouched log is in order, and proven', found);
  }

  async withCopy<T>(act: (db: pg.Client, url: string) => Promise<T>): Promise<T> {
    const name = `copy_${(this.copies += 1)}`;
    const url = await this.shared.copyDatabase(name, FROZEN);
    const db = new pg.Client({ connectionString: url });
    await db.connect();
    try {
      return await act(db, url);
    } finally {
      await db.end();
      await this.shared.environment.dropDatabase(name);
    }
  }

  private covered(): Promise<void> {
    return eventually('every event is under a head', () => areCovered(this.shared.pool));
  }
}

async function createHistory(shared: Shared, service: ServiceProcess, receiver: string): Promise<string> {
  const endpoints: string[] = [];
  const treasury = await shared.treasury();
  const exchange = new ExchangeClient(service.baseUrl, service.exchange);
  for (let round = 0; round < ROUNDS; round += 1) {
    const who = round % 2 === 0 ? service.merchant : service.secondMerchant;
    const client = new SignedClient(service.baseUrl, who);
    await createUser(client);
    if (round < 2) {
      const endpoint = { webhook_endpoint: { url: `${receiver}/${round}` } };
      const registered = await client.post(REGISTER_ENDPOINT.path, endpoint);
      endpoints.push((expectStatus(registered, 201).json().webhook_endpoint as { id: string }).id);
    }
    const payee = await createPayee(client);
    const custom_metadata = { note: 'ü', '10': 1 };
    for (const amount of ['1', '2', '3']) {
      const transaction_hash = await treasury.transfer(payee.wallet, Number(amount) * 1_000_000);
      await reported(client, payee.id, { amount, transaction_hash, custom_metadata });
      // A refused commit leaves a gap.
      await shared.pool.query(`select nextval('event_store.position')`);
    }
    await reported(client, payee.id, { amount: '4', custom_metadata });
    await exchange.order(SALE);
    await eventually('a head of each round', () => areCovered(shared.pool));
  }
  await eventually(
    'payouts with a transfer are received, their deliveries sent, every event is signed',
    async () => {
      const { rows } = await shared.pool.query<{ received: number; sent: number }>(
        `select (select count(*) from payouts.payouts where status = 1)::int as received,
         (select count(*) from webhooks.deliveries where state = 'succeeded')::int as sent`,
      );
      const [{ received, sent }] = rows as [(typeof rows)[number]];
      return received === 3 * ROUNDS && sent >= received && (await areCovered(shared.pool));
    },
  );
  return endpoints[0]!;
}
