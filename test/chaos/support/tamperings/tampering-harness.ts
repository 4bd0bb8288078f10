import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { call, type Credentials } from '../../../../bench/support/sign.js';
import type { Service } from '../../../../bench/support/service.js';
import { eventually } from '../../../../bench/support/wait.js';
import { storedLedger } from '../../../../src/contexts/audit/cli/ledger.js';
import { checkLedger, type LedgerReport } from '../../../../src/contexts/audit/application/check-ledger.js';
import { ledgerAtHand, type Brought } from '../../../../src/contexts/audit/application/checked-ledger.js';
import { logPages } from '../../../../src/platform/event-store/log-pages.js';
import type { SignedHead, SigningKey } from '../../../../src/contexts/audit/domain/signed-head.js';
import { Heads } from '../../../../src/contexts/audit/store/heads.js';
import { SigningKeys } from '../../../../src/contexts/audit/store/signing-keys.js';
import { PostgresEventStore } from '../../../../src/platform/event-store/postgres/postgres-event-store.js';
import type { Sealer } from '../../../../src/platform/sealing/sealer.js';
import { ExchangeClient } from '../../../support/exchange/exchange-client.js';
import { ringOf } from '../../../support/key-ring.js';
import { TestReceiver } from '../../../support/webhooks/receiver.js';
import { SALE } from '../orders/order-facts.js';
import { activePayee, createUser, randomHash, REPORT } from '../payouts.js';
import type { Random } from '../random.js';
import { Shared } from '../shared.js';
import { Treasury } from '../treasury.js';
import type { Verdict } from '../verdict.js';
import type { StoredRow } from './tampering.js';

const ROUNDS = 6;
const HEAD_MS = 1000;
const DEADLOCK = '40P01';
/** A copy of the history that no process works on. */
const FROZEN = 'frozen';

/** Tamperings of one kind, several at a time. */
export interface Group {
  /** Of all tamperings, in hundredths. */
  readonly percent: number;
  /** Done before it is checked whether each of them is named. */
  readonly atOnce: number;
  /** The service refuses to work meanwhile, and is ready again afterwards. */
  readonly stops?: true;
  /** The database of the service remains as it was. */
  readonly onCopies?: true;
  /** Tampers at most `count` times, checks, and restores the database. Returns what was done, a name for each. */
  run(harness: TamperingHarness, random: Random, count: number): Promise<readonly string[]>;
}

/** A history created over HTTP, and a service whose follower, signer and workers run while its database is changed. */
export class TamperingHarness {
  private copies = 0;

  private constructor(
    readonly shared: Shared,
    readonly masterKey: Buffer,
    readonly service: Service,
    private readonly sealer: Sealer,
    readonly verdict: Verdict,
    readonly receiver: TestReceiver,
    /** The forger's connection, with every right but the master key. */
    readonly db: pg.Client,
    readonly key: SigningKey,
    /** Of the first merchant. */
    private readonly endpoint: string,
  ) {}

  static async start(verdict: Verdict): Promise<TamperingHarness> {
    const shared = await Shared.start();
    const receiver = await TestReceiver.start();
    try {
      const masterKey = randomBytes(32);
      const env = {
        MASTER_KEY: masterKey.toString('hex'),
        AUDIT_HEAD_SECONDS: String(HEAD_MS / 1000),
        PAYOUT_CHECK_INTERVAL_MS: '50',
      };
      const first = await shared.service('service', env);
      const endpoint = await createHistory(shared, first, receiver.url);
      await first.child.stop();
      await shared.copyDatabase(FROZEN);
      const service = await shared.service('service', env);
      const url = await shared.databaseUrl();
      const db = new pg.Client({ connectionString: url });
      await db.connect();
      await db.query(
        'create temp table older_ledger as table audit.ledger; create temp table older_last_head as table audit.last_head',
      );
      const [key] = await new SigningKeys(queryable(db)).all();
      const sealer = await ringOf(url, masterKey);
      const harness = new TamperingHarness(
        shared,
        masterKey,
        service,
        sealer,
        verdict,
        receiver,
        db,
        key!,
        endpoint,
      );
      await harness.works();
      return harness;
    } catch (error) {
      await receiver.stop();
      await shared.close();
      throw error;
    }
  }

  async end(): Promise<void> {
    await this.db.end();
    await this.shared.close();
    await this.receiver.stop();
  }

  async events(): Promise<readonly StoredRow[]> {
    const { rows } = await this.db.query<StoredRow>(
      'select position, stream, revision, id, type, data, metadata from event_store.events order by position',
    );
    return rows;
  }

  /** What `audit verify` reports of the ledger, with the master key unless `brought` says otherwise; also inside a transaction of `db`. */
  async check(brought: Partial<Brought> = {}): Promise<LedgerReport> {
    const store = new PostgresEventStore(this.db as unknown as pg.Pool);
    const all = { heads: [], key: null, sealer: this.sealer, ...brought };
    const ledger = await ledgerAtHand(storedLedger(queryable(this.db)), await store.identity(), all);
    return checkLedger(logPages(store, { end: await store.head() }), ledger);
  }

  async newestHead(): Promise<SignedHead> {
    return (await new Heads(queryable(this.db)).newest())!;
  }

  /** Writes an event through the service. */
  write(): Promise<unknown> {
    return createUser(this.service.baseUrl, this.service.merchant);
  }

  /** Whether the service is ready, and what it says where it is not. */
  async readiness(): Promise<{ readonly ready: boolean; readonly text: string }> {
    const response = await fetch(`${this.service.baseUrl}/health/ready`);
    return { ready: response.status === 200, text: await response.text() };
  }

  /** Statements in one transaction, again where they met those of the service in a deadlock. Triggers and foreign keys do nothing. */
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

  /** The signer has run again. */
  ticks(): Promise<void> {
    return sleep(HEAD_MS + 100);
  }

  /** Everything is as the service left it: it is ready, and signs what comes. */
  async works(): Promise<void> {
    const { baseUrl, merchant } = this.service;
    const path = `/merchants/v1/webhook_endpoints/${this.endpoint}/test_delivery`;
    await call(baseUrl, merchant, 'POST', path, 202);
    await this.covered();
    await eventually('the service is ready', async () => (await this.readiness()).ready);
  }

  private covered(): Promise<void> {
    return eventually('every event is under a head', async () => {
      const { rows } = await this.db.query<{ covered: boolean }>(
        'select max(size) = (select count(*) from event_store.events) as covered from audit.heads',
      );
      return rows[0]!.covered;
    });
  }

  async untouched(): Promise<void> {
    await this.covered();
    const { findings, unsigned } = await this.check({ heads: [await this.newestHead()], key: this.key });
    this.verdict.none(findings, 'findings in an untouched log');
    this.verdict.equal(unsigned, 0, 'events of an untouched log that no head covers');
  }

  /** Hands `act` a fresh copy of the history, which is dropped afterwards. */
  async withCopy(act: (db: pg.Client, url: string) => Promise<void>): Promise<void> {
    const name = `copy_${(this.copies += 1)}`;
    await this.shared.copyDatabase(name, FROZEN);
    const url = await this.shared.databaseUrl(name);
    const db = new pg.Client({ connectionString: url });
    await db.connect();
    try {
      await act(db, url);
    } finally {
      await db.end();
      await this.shared.environment.dropDatabase(name);
    }
  }
}

function queryable(db: pg.Client): never {
  return { query: async (sql: string, params: unknown[]) => (await db.query(sql, params)).rows } as never;
}

/** Merchants, users, payouts that were received and that are pending, endpoints, deliveries and orders. */
async function createHistory(shared: Shared, service: Service, receiver: string): Promise<string> {
  const endpoints: string[] = [];
  const treasury = await Treasury.of(await shared.chain());
  const exchange = new ExchangeClient(service.baseUrl, {
    apiKey: service.exchange.api_key,
    secret: service.exchange.secret,
  });
  for (let round = 0; round < ROUNDS; round += 1) {
    const who = round % 2 === 0 ? service.merchant : service.secondMerchant;
    await createUser(service.baseUrl, who);
    if (round < 2) {
      const endpoint = { webhook_endpoint: { url: `${receiver}/${round}` } };
      const registered = await post(service, who, '/merchants/v1/webhook_endpoints', endpoint);
      endpoints.push((registered as { webhook_endpoint: { id: string } }).webhook_endpoint.id);
    }
    const payee = await activePayee(service.baseUrl, who);
    for (const amount of [1, 2, 3]) {
      const hash = await treasury.transfer(payee.wallet, amount * 1_000_000);
      await report(service, who, payee.id, String(amount), hash);
      // A commit that was refused leaves a gap.
      await shared.pool.query(`select nextval('event_store.position')`);
    }
    await report(service, who, payee.id, '4', randomHash());
    await exchange.order(SALE);
    // More than one head.
    await sleep(1.1 * HEAD_MS);
  }
  await eventually(
    'payouts with a transfer are received, their deliveries sent, every event is signed',
    async () => {
      const { rows } = await shared.pool.query<{ received: number; sent: number; covered: boolean }>(
        `select (select count(*) from payouts.payouts where status = 1)::int as received,
         (select count(*) from webhooks.deliveries where state = 'succeeded')::int as sent,
         (select max(size) from audit.heads) = (select count(*) from event_store.events) as covered`,
      );
      const [{ received, sent, covered }] = rows as [(typeof rows)[number]];
      return received === 3 * ROUNDS && sent >= received && covered;
    },
  );
  return endpoints[0]!;
}

async function report(
  service: Service,
  who: Credentials,
  user_id: string,
  amount: string,
  transaction_hash: string,
): Promise<void> {
  const body = { user_id, payout: { amount, transaction_hash, custom_metadata: { note: 'ü', '10': 1 } } };
  await post(service, who, REPORT.path, body);
}

async function post({ baseUrl }: Service, who: Credentials, path: string, body: object): Promise<unknown> {
  return call(baseUrl, who, 'POST', path, 201, body);
}
