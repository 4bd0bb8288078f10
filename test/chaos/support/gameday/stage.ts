import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { runProgram } from '../../../../bench/support/program.js';
import { rpc } from '../../../../sandbox/chain.js';
import { freePort } from '../../../../sandbox/processes.js';
import { Teardown } from '../../../../sandbox/teardown.js';
import { TestNode } from '../../../support/payouts/test-node.js';
import { TestRedis } from '../../../support/programs/redis.js';
import { createPayee, randomHash } from '../../../support/payouts/payout-calls.js';
import { reportPayout, type Payee } from '../payouts.js';
import type { ServiceProcess } from '../../../../bench/support/service.js';
import { Shared } from '../shared.js';
import { LocalServer } from '../../../support/http/local-server.js';
import { ready } from '../../../../bench/support/children.js';
import type { BenchEnvironment } from '../../../../bench/support/environment.js';
import { systemProgram } from '../../../support/programs/system-program.js';

const FOLDER = 'deploy/prometheus';

/**
 * Starts Prometheus and Alertmanager with the project's rules and routes. Alerts are sent to `pagerUrl`.
 * `targets` are scraped, as `host:port`. The environment stops both.
 */
async function startMonitoring(environment: BenchEnvironment, targets: readonly string[], pagerUrl: string) {
  const [prometheus, alertmanager] = ['prometheus', 'prometheus-alertmanager'].map((name) => {
    const program = systemProgram(name);
    if (program === null) throw new Error(`install Debian's packages prometheus and prometheus-alertmanager`);
    return program;
  });
  const dir = environment.folder('monitoring');
  mkdirSync(dir, { recursive: true });
  const routes = join(dir, 'alertmanager.yaml');
  const example = readFileSync(join(FOLDER, 'alertmanager.yaml'), 'utf8');
  writeFileSync(routes, example.replaceAll('http://127.0.0.1:8080', pagerUrl));
  const alerts = `${LOOPBACK}:${await freePort()}`;
  const alerting = environment.children.start({
    name: 'alertmanager',
    command: alertmanager!,
    args: [
      `--config.file=${routes}`,
      `--storage.path=${join(dir, 'alerts')}`,
      `--web.listen-address=${alerts}`,
      '--cluster.listen-address=',
    ],
    env: {},
    dir,
  });
  await ready(alerting, `http://${alerts}/-/ready`);
  const config = join(dir, 'prometheus.yaml');
  writeFileSync(
    config,
    JSON.stringify({
      global: { evaluation_interval: '15s' },
      scrape_configs: [{ job_name: 'disburse', scrape_interval: '15s', static_configs: [{ targets }] }],
      rule_files: [resolve(FOLDER, 'rules.yaml')],
      alerting: { alertmanagers: [{ static_configs: [{ targets: [alerts] }] }] },
    }),
  );
  const metrics = `${LOOPBACK}:${await freePort()}`;
  const scraping = environment.children.start({
    name: 'prometheus',
    command: prometheus!,
    args: [
      `--config.file=${config}`,
      `--storage.tsdb.path=${join(dir, 'metrics')}`,
      `--web.listen-address=${metrics}`,
    ],
    env: {},
    dir,
  });
  await ready(scraping, `http://${metrics}/-/ready`);
}

interface Notification {
  readonly alerts: readonly {
    readonly status: 'firing' | 'resolved';
    readonly fingerprint: string;
    readonly labels: Readonly<Record<string, string>>;
  }[];
}

/** The webhook of Alertmanager for the person on call. */
class Pager extends LocalServer {
  /** The firing alerts by fingerprint. */
  private readonly firing = new Map<string, Readonly<Record<string, string>>>();

  static async start(): Promise<Pager> {
    const pager = new Pager();
    await pager.restart();
    return pager;
  }

  get alerts(): readonly string[] {
    return [...new Set([...this.firing.values()].map(({ alertname }) => alertname!))].sort();
  }

  get details(): readonly Readonly<Record<string, string>>[] {
    return [...this.firing.values()];
  }

  protected override async respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { alerts } = (await json(request)) as Notification;
    for (const { status, fingerprint, labels } of alerts) {
      if (status === 'firing') this.firing.set(fingerprint, labels);
      else this.firing.delete(fingerprint);
    }
    response.writeHead(200).end();
  }
}

type Env = Readonly<Record<string, string>>;

const LOOPBACK = '127.0.0.1';
const SETTINGS: Env = {
  CHAIN_MAX_HEAD_AGE_SECONDS: '20',
  PAYOUT_CHECK_INTERVAL_MS: '500',
  AUDIT_HEAD_SECONDS: '1',
  OPERATIONS_APPROVALS: 'off',
};

/** A monitored installation: an API process and a worker on one PostgreSQL, with two nodes of a chain. */
export class Stage {
  private payee: Payee | null = null;

  private constructor(
    readonly shared: Shared,
    readonly nodes: readonly [TestNode, TestNode],
    readonly redis: TestRedis | null,
    readonly pager: Pager,
    private readonly env: Env,
    private readonly ports: Readonly<Record<'api' | 'worker', string>>,
    readonly ends: Teardown,
    public api: ServiceProcess,
    public worker: ServiceProcess,
  ) {}

  /** `prepare` runs before the processes start. `ends` is the teardown after the installation's end. */
  static async start(
    options: {
      readonly queue?: 'redis';
      readonly prepare?: (shared: Shared) => Promise<void>;
      readonly ends?: Teardown;
    } = {},
  ): Promise<Stage> {
    const { ends = new Teardown() } = options;
    try {
      const shared = await Shared.start();
      ends.add(() => shared.close());
      await options.prepare?.(shared);
      const { rpcUrl } = await shared.chain();
      await rpc(rpcUrl, 'evm_setIntervalMining', [1]);
      const node = (): Promise<TestNode> => ends.start(TestNode.start(rpcUrl));
      const nodes = [await node(), await node()] as const;
      const redis =
        options.queue === 'redis' ? await TestRedis.start(shared.environment.folder('redis')) : null;
      if (redis !== null) ends.add(() => redis.stop());
      const ports = { api: String(await freePort()), worker: String(await freePort()) };
      const env = {
        ...SETTINGS,
        CHAIN_RPC_URL: nodes.map(({ url }) => url).join(),
        ...(redis !== null && { QUEUE_URL: redis.url }),
      };
      // The first process has the role worker, which creates merchants and operators of the sandbox.
      const api = await shared.service('api', env);
      const worker = shared.process('worker', { ...env, ROLES: 'worker', METRICS_PORT: ports.worker });
      await worker.start();
      await worker.registered();
      const targets = [ports.api, ports.worker].map((port) => `${LOOPBACK}:${port}`);
      const pager = await Pager.start();
      ends.add(() => pager.shutDown());
      await startMonitoring(shared.environment, targets, pager.url);
      const stage = new Stage(shared, nodes, redis, pager, env, ports, ends, api, worker);
      await stage.replace('api');
      return stage;
    } catch (error) {
      await ends.run();
      throw error;
    }
  }

  close(): Promise<void> {
    return this.ends.run();
  }

  /** Replaces a process by one with these settings over those of the installation. */
  async replace(role: 'api' | 'worker', env: Env = {}, main?: string): Promise<void> {
    const former = this[role];
    if (former.runs) await former.kill();
    const next = this.shared.process(
      role,
      {
        ...this.env,
        ROLES: role === 'api' ? 'api,admin' : 'worker',
        METRICS_PORT: this.ports[role],
        ...env,
      },
      main === undefined ? {} : { main },
    );
    this[role] = await next.start();
    await next.registered();
  }

  async report(count: number, { paid }: { readonly paid: boolean }): Promise<void> {
    this.payee ??= await createPayee(this.api.client);
    const treasury = await this.shared.treasury();
    for (let n = 1; n <= count; n += 1) {
      const hash = paid ? await treasury.transfer(this.payee.wallet, n) : randomHash();
      await reportPayout(this.api.client, this.payee, n, hash);
    }
  }

  /** Runs an operator's program with the settings of the installation. */
  async program(args: readonly string[], end?: string): Promise<void> {
    const { environment, databaseUrl, masterKey } = this.shared;
    const env = { MODE: 'sandbox', ...this.env, DATABASE_URL: databaseUrl, MASTER_KEY: masterKey };
    const chain = await this.shared.chain();
    await runProgram(
      environment,
      args,
      { ...env, USDC_ADDRESS: chain.usdcAddress, DATA_DIR: environment.folder(`program-${randomUUID()}`) },
      end,
    );
  }
}
