import { randomBytes, randomInt } from 'node:crypto';
import pg from 'pg';
import { call, type Credentials } from '../../../bench/support/sign.js';
import type { Service } from '../../../bench/support/service.js';
import { eventually } from '../../../bench/support/wait.js';
import { check } from '../../../src/contexts/audit/cli/ledger.js';
import type { LedgerReport } from '../../../src/contexts/audit/application/check-ledger.js';
import type { Brought } from '../../../src/contexts/audit/application/checked-ledger.js';
import { describeFinding } from '../../../src/contexts/audit/domain/ledger-findings.js';
import { Heads } from '../../../src/contexts/audit/store/heads.js';
import { SigningKeys } from '../../../src/contexts/audit/store/signing-keys.js';
import { PostgresEventStore } from '../../../src/platform/event-store/postgres/postgres-event-store.js';
import { Database } from '../../../src/platform/postgres/database.js';
import { KeyRing, MasterKey } from '../../../src/platform/sealing/key-ring.js';
import { ExchangeClient } from '../../support/exchange-client.js';
import { Random } from '../support/fuzz/random.js';
import { CREATE_USER, REGISTER_ENDPOINT } from '../support/operations.js';
import { activePayee, Treasury } from '../support/payees.js';
import { Shared } from '../support/shared.js';
import { seconds, type Suite } from '../support/suite.js';
import { FORGERIES } from '../support/tamperings/forgery.js';
import { PLAIN, type StoredRow } from '../support/tamperings/tampering.js';
import { Tally } from '../support/verdict.js';

const ADDRESS = '4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T';
const ROUNDS = 6;
/** How often the untouched log is checked. */
const UNTOUCHED_EVERY = 20;

/**
 * `--count` random tamperings of a store with a history made over HTTP, each inside a transaction that is rolled back:
 * flips, deletions, swaps, insertions, cuts, forgeries in which events, views and ledger agree, and spoilt rows of the
 * ledger. All of it follows from `--seed`.
 */
export const tamperings: Suite = async ({ count, verdict, say, sizes = {} }) => {
  const seed = sizes.seed ?? randomInt(1, 2 ** 31);
  say(`seed   ${seed}`);
  const shared = await Shared.start();
  const masterKey = randomBytes(32);
  try {
    await makeHistory(shared, masterKey);
    const url = await shared.databaseUrl();
    const database = await Database.connect({ url, poolSize: 2 });
    const { sealer } = await KeyRing.open(database, { current: new MasterKey(masterKey), former: null });
    const kept = (await new Heads(database).after(0, 100_000)).at(-1)!;
    const [key] = await new SigningKeys(database).all();
    await database.close();
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    const { rows: events } = await client.query<StoredRow>(
      'select position, stream, revision, id, type, data, metadata from event_store.events order by position',
    );
    say(`log    ${events.length} events, ${kept.size} of them under the newest head`);
    verdict.equal(kept.size, events.length, 'events under the newest head');
    const checked = (brought: Partial<Brought>): Promise<LedgerReport> =>
      check(
        { query: async (sql: string, params: unknown[]) => (await client.query(sql, params)).rows } as never,
        new PostgresEventStore(client as unknown as pg.Pool),
        { heads: [], key: null, sealer, ...brought },
      );
    const all = Object.entries({ ...PLAIN, ...FORGERIES });
    const tally = new Tally();
    let checkMs = 0;
    const began = performance.now();
    for (let number = 0, done = 0; done < count; number += 1) {
      if (number % UNTOUCHED_EVERY === 0) {
        const { findings, unsigned } = await checked({ heads: [kept], key: key! });
        verdict.none(findings, 'findings in an untouched log');
        verdict.equal(unsigned, 0, 'events of an untouched log that nobody signed');
        tally.add('untouched');
      }
      const random = new Random(seed, number);
      const [name, tamper] = all[number % all.length]!;
      await client.query('begin');
      const tampering = await tamper({ tx: client, events, random });
      if (tampering !== null) {
        const { needs, what, isNamed } = tampering;
        const from = performance.now();
        const { findings } = await checked(
          needs === 'head' ? { heads: [kept] } : needs === 'key' ? { key: key!, sealer: null } : {},
        );
        checkMs += performance.now() - from;
        verdict.expect(
          findings.length > 0 && isNamed(findings),
          `tampering ${number} is found and named: ${what}`,
          findings.map(describeFinding).join('; ') || 'nothing was found',
        );
        tally.add(name);
        done += 1;
      }
      await client.query('rollback');
    }
    say(
      `${tally.toString()}; a check took ${(checkMs / count).toFixed(1)} ms, all of it ${seconds(performance.now() - began)}`,
    );
    await client.end();
  } finally {
    await shared.close();
  }
};

/** Merchants, users, payouts that were received and that wait, endpoints, deliveries and orders; then nothing runs. */
async function makeHistory(shared: Shared, masterKey: Buffer): Promise<void> {
  const service = await shared.service('service', {
    MASTER_KEY: masterKey.toString('hex'),
    AUDIT_HEAD_SECONDS: '1',
    PAYOUT_CHECK_INTERVAL_MS: '50',
  });
  const treasury = await Treasury.of(await shared.chain());
  const exchange = new ExchangeClient(service.baseUrl, {
    apiKey: service.exchange.api_key,
    secret: service.exchange.secret,
  });
  for (let round = 0; round < ROUNDS; round += 1) {
    const who = round % 2 === 0 ? service.merchant : service.secondMerchant;
    await post(service, who, CREATE_USER.path, CREATE_USER.body(''));
    if (round < 2) await post(service, who, REGISTER_ENDPOINT.path, REGISTER_ENDPOINT.body(''));
    const payee = await activePayee(service.baseUrl, who);
    for (const amount of [1, 2, 3]) {
      const hash = await treasury.transfer(payee.wallet, amount * 1_000_000);
      await report(service, who, payee.id, String(amount), hash);
      // A commit that was refused leaves a gap.
      await shared.pool.query(`select nextval('event_store.position')`);
    }
    await report(service, who, payee.id, '4', `0x${randomBytes(32).toString('hex')}`);
    await exchange.order({ pair_id: 'USDCSOL', withdraw_address: ADDRESS });
    // More than one head.
    await new Promise((resolve) => setTimeout(resolve, 1100));
  }
  await eventually('every payout with a transfer is received', async () => {
    const { rows } = await shared.pool.query<{ count: number }>(
      'select count(*)::int as count from payouts.payouts where status = 1',
    );
    return rows[0]!.count === 3 * ROUNDS;
  });
  await eventually('every event is under a head', async () => {
    const { rows } = await shared.pool.query<{ covered: boolean }>(
      'select max(size) = (select count(*) from event_store.events) as covered from audit.heads',
    );
    return rows[0]!.covered;
  });
  await service.child.stop();
}

async function report(
  { baseUrl }: Service,
  who: Credentials,
  user_id: string,
  amount: string,
  transaction_hash: string,
): Promise<void> {
  const body = { user_id, payout: { amount, transaction_hash, custom_metadata: { note: 'ü', '10': 1 } } };
  await call(baseUrl, who, 'POST', '/merchants/v1/payouts/report', 201, body);
}

async function post({ baseUrl }: Service, who: Credentials, path: string, body: string): Promise<void> {
  await call(baseUrl, who, 'POST', path, 201, JSON.parse(body) as object);
}
