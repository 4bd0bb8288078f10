import { chmodSync, existsSync, mkdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { INestApplicationContext } from '@nestjs/common';
import type { Config } from '../src/composition.js';
import { httpConfig, listenerUrl } from '../src/platform/config/config.js';
import { about } from '../src/platform/config/settings.js';
import { prepareAdministrators, type AdministratorCommands } from './administrators.js';
import { consoleUrl } from '../src/contexts/access/console/console-sessions.store.js';
import { announce, step, type SandboxFile } from './announce.js';
import { prepareChain } from './chain-part.js';
import { lockDataDir } from './data-dir-lock.js';
import { prepareDatabase } from './database-part.js';
import { prepareExchangeKeys, type IssueExchangeKey } from './exchange-keys.js';
import { writeJson } from './files.js';
import { prepareMerchants, type CreateMerchantWithKey } from './merchants.js';
import { freePort, isFree } from './processes.js';
import { SandboxError } from './sandbox-error.js';
import { SecretsFile } from './secrets.js';
import { Supervisor } from './supervisor.js';
import { Teardown } from './teardown.js';
import { FUNDED, TEST_USDC_ADDRESS } from './usdc.js';

type PortName = 'port' | 'widgetPort' | 'payPort' | 'adminPort' | 'portalPort' | 'metricsPort';

/** The operator's actions that the sandbox performs. */
export interface SandboxOperator {
  readonly registerMerchant: CreateMerchantWithKey;
  readonly issueExchangeKey: IssueExchangeKey;
  readonly administrators: AdministratorCommands;
}

export interface Sandbox {
  /** The configuration with every value that the sandbox provides. */
  readonly config: Config;
  /**
   * Creates the merchants and administrators with their keys and writes `sandbox.json`. The service must
   * listen already.
   */
  ready(app: INestApplicationContext, operator: SandboxOperator): Promise<SandboxFile>;
  /** Stops what the sandbox started. The service must have drained and closed. */
  stop(): Promise<void>;
}

/**
 * Starts the servers that no URL configures: PostgreSQL, and a dev chain with a test USDC. Both are stored in
 * DATA_DIR and adopted after a kill. Throws {@link SandboxError} with a message for the user.
 */
export async function prepareSandbox(given: Config): Promise<Sandbox> {
  if (given.mode !== 'sandbox') throw new SandboxError('The sandbox parts do not run with MODE=production.');
  const dataDir = makeDataDir(given.dataDir);
  const unlock = await lockDataDir(dataDir);
  const teardown = new Teardown();
  teardown.add(unlock);
  try {
    const file = join(dataDir, 'sandbox.json');
    rmSync(file, { force: true });
    teardown.add(() => rmSync(file, { force: true }));
    teardown.onEarlySignal();
    const config = { ...given, dataDir, ...(await preparePorts(given)) };
    const secrets = SecretsFile.open(dataDir);
    const supervisor = new Supervisor((message) => process.stderr.write(`sandbox: ${message}\n`));
    teardown.add(() => supervisor.stop());
    const note = (part: { note: string }): string => part.note;
    const prepared = await Promise.allSettled([
      step('PostgreSQL', () => teardown.start(prepareDatabase(config, dataDir, secrets, supervisor)), note),
      step('Dev chain', () => teardown.start(prepareChain(config, dataDir, supervisor)), note),
    ]);
    const [database, chain] = prepared;
    if (database.status === 'rejected') throw database.reason;
    if (chain.status === 'rejected') throw chain.reason;
    const complete: Config = {
      ...config,
      databaseUrl: database.value.url,
      chainRpcUrl: chain.value.rpcUrl,
      usdcAddress: chain.value.usdcAddress,
      masterKey: config.masterKey ?? secrets.current.master_key,
    };
    return {
      config: complete,
      stop: () => teardown.run(),
      ready: async (app, { registerMerchant, issueExchangeKey, administrators }) => {
        const merchants = await prepareMerchants(app, secrets, registerMerchant);
        const { api_key: merchantId } = merchants.merchant;
        const exchange = await prepareExchangeKeys(app, secrets, merchantId, issueExchangeKey);
        const { admin, operatorId } = await prepareAdministrators(app, secrets, administrators);
        const urls = describe(complete);
        const content = {
          ...urls,
          admin: { base_url: complete.adminUrl ?? listenerUrl(complete.host, complete.adminPort), ...admin },
          ...merchants,
          exchange,
          chain: describeChain(complete),
          pid: process.pid,
        };
        const loginUrl = await administrators.loginLink(operatorId);
        writeJson(file, content);
        announce({ type: 'ready', sandbox: content, loginUrl });
        return content;
      },
    };
  } catch (error) {
    await teardown.run();
    throw error;
  }
}

/** Creates DATA_DIR. Other users may enter but not list it, because PostgreSQL may run as another user. */
function makeDataDir(given: string): string {
  const dataDir = resolve(given);
  if (existsSync(dataDir)) return dataDir;
  mkdirSync(dataDir, { recursive: true });
  chmodSync(dataDir, 0o711);
  return dataDir;
}

type Urls = 'base_url' | 'widget_url' | 'pay_url' | 'metrics_url' | 'console_url' | 'portal_url';

function describe(config: Config): Pick<SandboxFile, Urls> {
  const { host } = config;
  return {
    base_url: config.publicUrl ?? listenerUrl(host, config.port),
    widget_url: config.widgetUrl ?? listenerUrl(host, config.widgetPort),
    pay_url: config.payUrl ?? listenerUrl(host, config.payPort),
    console_url: consoleUrl(config),
    portal_url: config.portalUrl ?? listenerUrl(host, config.portalPort),
    metrics_url: `${listenerUrl(host, config.metricsPort)}/metrics`,
  };
}

function describeChain(config: Config): SandboxFile['chain'] {
  const own = config.usdcAddress === TEST_USDC_ADDRESS;
  return {
    rpc_url: config.chainRpcUrl ?? '',
    chain_id: config.chainId,
    usdc_address: config.usdcAddress ?? '',
    funded_private_key: own ? FUNDED.privateKey : null,
  };
}

/**
 * Resolves the ports of this sandbox: 0 becomes a free port. Throws SandboxError for a port in use. The
 * default metrics port is replaced instead, because the user did not choose it.
 */
async function preparePorts(config: Config): Promise<Pick<Config, PortName>> {
  const inUse: string[] = [];
  const resolve = async (key: PortName): Promise<number> => {
    const port = config[key];
    if (port === 0) return freePort();
    if (await isFree(port, config.host)) return port;
    const setting = httpConfig.settings[key];
    if (key === 'metricsPort' && port === setting.fallback) return freePort();
    inUse.push(
      `Port ${port} is in use by another program: stop that one, or set ${setting.name} to another port (0 for any free one). ${about(setting)}`,
    );
    return port;
  };
  const ports = {
    port: await resolve('port'),
    widgetPort: await resolve('widgetPort'),
    payPort: await resolve('payPort'),
    adminPort: await resolve('adminPort'),
    portalPort: await resolve('portalPort'),
    metricsPort: await resolve('metricsPort'),
  };
  if (inUse.length > 0) throw new SandboxError(inUse.join('\n'));
  return ports;
}
