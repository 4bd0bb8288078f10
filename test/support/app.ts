import 'reflect-metadata';
import { equal } from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll } from '@jest/globals';
import { CommandBus } from '@nestjs/cqrs';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Role } from '../../src/contexts/access/access.contract.js';
import { CreateOperator } from '../../src/contexts/access/operators/operators.commands.js';
import { readConfig, type Config } from '../../src/composition.js';
import { EVENT_STORE, type EventStore } from '../../src/platform/event-store/port.js';
import type { Database } from '../../src/platform/postgres/database.js';
import { createMerchant, issueCredential, issueExchangeKey } from '../../sandbox/issuing.js';
import { startService } from '../../sandbox/service.js';
import { CONSOLE_PAGE } from '../../src/platform/http/listeners.js';
import { PageListeners } from '../../src/platform/http/http.module.js';
import { newId } from '../../src/kernel/ids.js';
import { AdminClient } from './admin/admin-client.js';
import { TestChain } from './payouts/chain.js';
import { eventually } from './eventually.js';
import { ExchangeClient } from './exchange/exchange-client.js';
import { ContractChecker } from './http/openapi.js';
import { testDatabase } from './postgres.js';
import { sharedFolder, specFolder } from './run-folder.js';
import { SignedClient, type ApiResponse, type SignedCall } from './http/signed-client.js';
import { FREE_PORTS } from './free-ports.js';

/** The whole service in this process, with a separate database and chain. */
export interface TestApp {
  readonly app: NestFastifyApplication;
  readonly url: string;
  readonly config: Config;
  readonly chain: TestChain;
  /** Connections of the spec, apart from the service's. */
  readonly database: Database;
  readonly merchant: SignedClient;
  readonly secondMerchant: SignedClient;
  /** Exchange keys of `merchant`. The first one requires signatures. */
  readonly exchange: { readonly signing: ExchangeClient; readonly open: ExchangeClient };
  /** A client of a new merchant, which checks every response against the OpenAPI document. */
  newMerchant(): Promise<SignedClient>;
  /** A client with a new key of the exchange, of `merchant` by default. */
  newExchangeKey(
    demandsSignature: boolean,
    merchantId?: string,
    memoSigning?: 'contract' | 'full',
  ): Promise<ExchangeClient>;
  /** A client of a new person with a key of the admin API, by default an administrator with all scopes. */
  newAdmin(person?: Partial<NewAdmin>): Promise<AdminClient>;
  /** Stops the service like SIGTERM. `close` still has to be called. */
  stop(): Promise<void>;
  close(): Promise<void>;
}

interface NewAdmin {
  readonly role: Role;
  readonly operatorId: string;
  readonly scopes: readonly string[];
  readonly merchants: readonly string[];
  readonly addresses: readonly string[];
  readonly expiresAt: string;
}

/** Settings by their names in the environment, over the defaults of tests. */
export type TestSettings = Readonly<Record<string, string>>;

const eventStoreDb = process.env['EVENTSTOREDB_URL'];
/** The available event stores, each with its settings. */
export const STORES: readonly (readonly [name: string, settings: TestSettings])[] = [
  ['PostgreSQL', {}],
  ...(eventStoreDb === undefined ? [] : [['EventStoreDB', { EVENT_STORE_URL: eventStoreDb }] as const]),
];

const SETTINGS: TestSettings = {
  ...FREE_PORTS,
  // Suites connect without TLS.
  REQUIRE_HTTPS: 'false',
  LOG_LEVEL: 'silent',
  RATE_LIMIT_PER_MINUTE: '1000000',
  RATE_LIMIT_PER_IP_PER_MINUTE: '1000000',
  PAYOUT_CHECK_INTERVAL_MS: '200',
  EXCHANGE_CHECK_INTERVAL_MS: '100',
  EXCHANGE_SCAN_INTERVAL_MS: '100',
  EXCHANGE_SETTLE_MS: '50',
  // A longer wait than a busy machine needs, so that reads cause no 503.
  READ_YOUR_WRITES_MS: '15000',
  WEBHOOK_RETRY_SCHEDULE_SECONDS: '0,0.05,0.1',
};

/** Selects subscriptions behind this position. The end of an empty log is null. */
const BEHIND = `select from event_store.checkpoints where coalesce(position::numeric, 0) < $1::numeric`;

/** Throws if a response contradicts the service's OpenAPI document. */
class CheckedClient extends SignedClient {
  constructor(
    private readonly contract: ContractChecker,
    ...client: ConstructorParameters<typeof SignedClient>
  ) {
    super(...client);
  }

  override async call(call: SignedCall): Promise<ApiResponse> {
    const response = await super.call(call);
    expectPromised(this.contract, call, response);
    return response;
  }
}

function expectPromised(contract: ContractChecker, call: SignedCall, response: ApiResponse): void {
  const { method = 'GET', path } = call;
  equal(response.headers['cache-control'], 'no-store');
  // The document does not describe unknown paths and methods.
  const unknown = response.status === 405 || (response.status === 404 && !contract.describes(path));
  if (!unknown && method !== 'HEAD') contract.expect(method, path, response);
}

/** Starts a service that is closed at the end of the suite. */
export async function testApp(settings: TestSettings = {}): Promise<TestApp> {
  let app: TestApp | undefined;
  afterAll(() => app?.close());
  return (app = await startTestApp(settings));
}

/** A service for the tests of a `describe`. It has its members once the first `beforeAll` has run. */
export function onTestApp(settings: TestSettings = {}): TestApp {
  const app = {} as TestApp;
  beforeAll(async () => void Object.assign(app, await startTestApp(settings)));
  // `close` is missing if the start has failed, whose error counts.
  afterAll(() => app.close?.());
  return app;
}

let shared: Promise<RunningApp> | undefined;

/**
 * The service that suites of one worker share until the end of the run, with separate merchants and keys for
 * each. Other suites write to it before and meanwhile. A suite with other settings, a tampered database, a
 * verified log or first operators uses `testApp`.
 */
export async function sharedApp(): Promise<TestApp> {
  shared ??= startRunningApp({}, { folder: sharedFolder });
  const running = await shared;
  const refuse = (): Promise<never> => Promise.reject(new Error('the service is shared: use testApp'));
  return { ...(await withMerchants(running)), stop: refuse, close: async () => undefined };
}

/**
 * Ends the shared service of the worker; the next suite starts another. run-suite.mjs calls it before fake
 * timers replace those of the process, which the service would lose.
 */
export async function endSharedApp(): Promise<void> {
  const ending = shared;
  shared = undefined;
  await (await ending)?.close();
}
Object.assign(globalThis, { [Symbol.for('disburse.endSharedApp')]: endSharedApp });

/** Starts a service that the caller closes. `nodeOf` returns the URL of a node in front of the chain. */
export async function startTestApp(
  settings: TestSettings = {},
  nodeOf?: (chainUrl: string) => Promise<string>,
): Promise<TestApp> {
  const running = await startRunningApp(settings, { nodeOf });
  const parts: TestApp = {
    ...(await withMerchants(running)),
    close: async () => {
      await running.close();
      // Modules of suites remain in their worker with their variables.
      for (const part of Object.keys(parts)) Reflect.deleteProperty(parts, part);
    },
  };
  return parts;
}

type RunningApp = Omit<TestApp, 'merchant' | 'secondMerchant' | 'exchange' | 'newExchangeKey'> & {
  newExchangeKey(
    merchantId: string,
    demandsSignature: boolean,
    memoSigning?: 'contract' | 'full',
  ): Promise<ExchangeClient>;
};

async function withMerchants(running: RunningApp): Promise<TestApp> {
  const [merchant, secondMerchant] = [await running.newMerchant(), await running.newMerchant()];
  const newExchangeKey: TestApp['newExchangeKey'] = (
    demandsSignature,
    merchantId = merchant.credentials.apiKey,
    memoSigning,
  ) => running.newExchangeKey(merchantId, demandsSignature, memoSigning);
  const [signing, open] = await Promise.all([newExchangeKey(true), newExchangeKey(false)]);
  return { ...running, merchant, secondMerchant, newExchangeKey, exchange: { signing, open } };
}

interface RunningAppOptions {
  readonly nodeOf?: ((chainUrl: string) => Promise<string>) | undefined;
  /** The folder of the chain; by default that of the suite. */
  readonly folder?: (name: string) => string;
}

async function startRunningApp(
  settings: TestSettings,
  { nodeOf = async (chainUrl) => chainUrl, folder = specFolder }: RunningAppOptions,
): Promise<RunningApp> {
  const [chain, db] = await Promise.all([TestChain.start(folder), testDatabase({ poolSize: 4 })]);
  const config = readConfig({
    ...SETTINGS,
    DATABASE_URL: db.url,
    DATA_DIR: folder('data'),
    CHAIN_RPC_URL: await nodeOf(chain.rpcUrl),
    USDC_ADDRESS: chain.usdcAddress,
    MASTER_KEY: randomBytes(32).toString('hex'),
    ...settings,
  });
  const release = async (): Promise<void> => {
    await Promise.all([chain.stop(), db.drop()]);
  };
  const service = await startService(config).catch(async (error: unknown) => {
    await release();
    throw error;
  });
  let stopped: Promise<void> | null = null;
  const stop = (): Promise<void> => (stopped ??= service.close());
  const url = service.address ?? '';
  const contract = await ContractChecker.of(url);
  const newMerchant = async (): Promise<SignedClient> => {
    const created = await createMerchant(service.app.get(CommandBus), 'Test merchant');
    const { merchantId: apiKey, secret: privateKey } = created;
    return new CheckedClient(contract, url, { apiKey, privateKey });
  };
  const newExchangeKey: RunningApp['newExchangeKey'] = async (merchantId, demandsSignature, memoSigning) => {
    const issue = [service.app.get(CommandBus), merchantId, demandsSignature] as const;
    const signing = { ...(memoSigning && { memo_signing: memoSigning }) };
    const { keyId: apiKey, secret } = await issueExchangeKey(...issue, signing);
    return new ExchangeClient(url, { apiKey, secret }, (call, response) => {
      if (contract.describes(call.path)) expectPromised(contract, call, response);
    });
  };
  const newAdmin: TestApp['newAdmin'] = async (given = {}) => {
    const commands = service.app.get(CommandBus);
    const { role = 'administrator', operatorId = newId(), expiresAt: expires_at = null, ...terms } = given;
    const person = { name: 'Test operator', email: `${operatorId}@ops.example`, role };
    if (given.operatorId === undefined) await commands.execute(new CreateOperator(operatorId, person));
    const key = { kind: 'admin', operator_id: operatorId, name: 'test', expires_at, ...terms } as const;
    const { secret } = await issueCredential(commands, key);
    const port = service.app.get(PageListeners, { strict: false }).portOf(CONSOLE_PAGE);
    return new AdminClient(`http://127.0.0.1:${port}`, secret, operatorId, (call, response) => {
      expectPromised(contract, { ...call, path: `/admin/v1${call.path}` }, response);
    });
  };
  // An event server may have a history, which the subscriptions have to follow first.
  if (config.eventStoreUrl !== null) {
    const end = await service.app.get<EventStore>(EVENT_STORE, { strict: false }).head();
    await eventually(async () => (await db.database.query(BEHIND, [end])).length === 0);
  }
  const close = async (): Promise<void> => {
    await stop();
    await release();
  };
  const { app } = service;
  return {
    app,
    url,
    config,
    chain,
    database: db.database,
    newMerchant,
    newExchangeKey,
    newAdmin,
    stop,
    close,
  };
}
