#!/usr/bin/env node
// npm run image [-- --slim]: builds the Dockerfile and tries what was built: the sandbox, then each role of production on a
// read-only root, all roles and programs as a user without rights. Ends with 3 where no image can be built.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { imageEngine } from './lib/image-engines.mjs';
import { NotPossible } from './lib/image-base.mjs';
import { complain, Problem, step } from './lib/terminal.mjs';

const HEALTHY_WITHIN_MS = 120_000;
/** Ends with 0 once the process should get requests. */
const READY =
  'fetch(`http://127.0.0.1:${process.env.METRICS_PORT}/health/ready`).then(({ ok }) => process.exit(ok ? 0 : 1))';
const HEALTHCHECK = ['node', 'scripts/healthcheck.mjs'];
const ROLES = ['api', 'worker', 'widget', 'admin', 'portal'];
const NOT_POSSIBLE = 3;

/** Prints the settings of a production on the database and the chain of the sandbox that it runs in. */
const PRODUCTION = `
  const { readFileSync } = require('node:fs');
  const read = (name) => JSON.parse(readFileSync('/data/' + name + '.json', 'utf8'));
  const { postgres_password, postgres_port } = read('secrets');
  const url = 'postgres://disburse:' + postgres_password + '@127.0.0.1:' + postgres_port + '/';
  const client = new (require('pg').Client)(url + 'postgres');
  client.connect()
    .then(() => client.query('create database production'))
    .then(() => client.end())
    .then(() => {
      const { rpc_url, usdc_address } = read('sandbox').chain;
      console.log(JSON.stringify({ DATABASE_URL: url + 'production', CHAIN_RPC_URL: rpc_url, USDC_ADDRESS: usdc_address }));
    });`;

const engine = imageEngine();

try {
  const { values } = parseArgs({ options: { slim: { type: 'boolean', default: false } } });
  await prepare();
  // The sandbox of the whole image has the database and the chain: a slim one has neither.
  await step('Build', async () => void engine.build([]));
  const sandbox = await started({ MODE: 'sandbox' });
  try {
    const facts = JSON.parse(sandbox.exec('node', '-e', PRODUCTION));
    await step('Content', async () => contentOf(sandbox));
    await step('Size', async () => engine.size());
    if (values.slim) {
      await step('Build, slim', async () => void engine.build(['--build-arg', 'SLIM=1']));
      await step('Size, slim', async () => engine.size());
    }
    const production = {
      MODE: 'production',
      PUBLIC_URL: 'https://api.example',
      MASTER_KEY: randomBytes(32).toString('hex'),
    };
    for (const role of ROLES)
      await step(`Role ${role}`, () => tried({ ...production, ...facts, ROLES: role }));
    await step('All roles', () => tried({ ...production, ...facts, ROLES: ROLES.join() }));
  } finally {
    await step('Sandbox', () => ended(sandbox));
  }
} catch (error) {
  complain(error);
  if (error instanceof NotPossible) process.exitCode = NOT_POSSIBLE;
}

async function prepare() {
  if (engine === null)
    throw new NotPossible('Building the image needs Docker, or buildah and debootstrap (apt-get install).');
  await engine.prepare();
}

async function started(settings, options = {}) {
  const service = engine.start({ ...settings, HOST: '127.0.0.1', ...(await freePorts()) }, options);
  const deadline = performance.now() + HEALTHY_WITHIN_MS;
  while (!isHealthy(service)) {
    if (!service.isAlive() || performance.now() > deadline) {
      const { log } = await service.stop();
      throw new Problem(`The service is not healthy:\n\n${log}`);
    }
    await sleep(500);
  }
  return service;
}

async function tried(settings) {
  const service = await started(settings, { readOnly: true });
  return ended(service);
}

async function ended(service) {
  const { code, log } = await service.stop();
  if (code !== 0) throw new Problem(`SIGTERM ended the service with ${code}:\n\n${log}`);
  return 'healthy, ended by SIGTERM';
}

function isHealthy(service) {
  try {
    service.exec(...HEALTHCHECK);
    service.exec('node', '-e', READY);
    return true;
  } catch {
    return false;
  }
}

/** Nothing of the image may be changed by who runs in it. */
function contentOf(service) {
  const [uid, writable, packages] = [
    'id -u',
    'find / -xdev -writable -type f -not -path "/proc/*" -not -path "/data/*" -not -path "/home/*" -not -path "/tmp/*" 2>/dev/null || true',
    'node -p "require(\'./sbom.json\').components.length"',
  ].map((script) => service.exec('sh', '-c', script).trim());
  if (uid === '0') throw new Problem('The image runs as root.');
  if (writable !== '') throw new Problem(`The user of the image may write:\n${writable}`);
  return `uid ${uid}, no file of it writable, ${packages} packages in sbom.json`;
}

async function freePorts() {
  const names = ['PORT', 'WIDGET_PORT', 'PAY_PORT', 'ADMIN_PORT', 'PORTAL_PORT', 'METRICS_PORT'];
  const servers = names.map(() => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const ports = names.map((name, n) => [name, String(servers[n].address().port)]);
  await Promise.all(servers.map((server) => once(server.close(), 'close')));
  return Object.fromEntries(ports);
}
