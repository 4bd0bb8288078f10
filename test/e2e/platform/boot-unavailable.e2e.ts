import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { connect } from 'node:net';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { freePort } from '../../../sandbox/processes.js';
import { eventually, WAIT_MS } from '../../support/eventually.js';
import { onTestDatabase, testDatabase } from '../../support/postgres.js';
import { TestProcess } from '../../support/programs/test-process.js';
import { specFolder } from '../../support/run-folder.js';
import { FREE_PORTS } from '../../support/free-ports.js';

const MAIN = fileURLToPath(new URL('../../../dist/main.js', import.meta.url));
const PROGRAMS = fileURLToPath(new URL('../../../dist/cli.js', import.meta.url));
const PRODUCTION = {
  MODE: 'production',
  PUBLIC_URL: 'https://api.example',
  MASTER_KEY: randomBytes(32).toString('hex'),
  USDC_ADDRESS: `0x${'1'.repeat(40)}`,
  ...FREE_PORTS,
};

/** Boots the real build or an operator's program. Returns its errors and exit code. */
async function boot(env: Readonly<Record<string, string>>, args: readonly string[] = [MAIN]) {
  const booted = new TestProcess(process.execPath, ['--enable-source-maps', ...args], {
    env: { PATH: process.env['PATH'], ...PRODUCTION, ...env },
    timeout: WAIT_MS,
  });
  const code = await booted.ended;
  return { errors: booted.errors, code };
}

/** The defect of a package that does not handle a rejection. */
const DEFECT = `process.on('SIGUSR2', () => { void Promise.reject(new TypeError('undefined is not iterable')); });`;

const nowhere = `127.0.0.1:${await freePort()}`;

describe('a boot while a dependency is unavailable', () => {
  const db = onTestDatabase();

  const NO_DATABASE = { DATABASE_URL: `postgres://eve:hunter2@${nowhere}/disburse` };

  it.each([
    ['DATABASE_URL', 'the service', () => NO_DATABASE],
    ['DATABASE_URL', 'rebuild', () => NO_DATABASE],
    [
      'EVENT_STORE_URL',
      'the service',
      () => ({ DATABASE_URL: db.url, EVENT_STORE_URL: `postgres://eve:hunter2@${nowhere}/x` }),
    ],
    ['QUEUE_URL', 'the service', () => ({ DATABASE_URL: db.url, QUEUE_URL: `redis://:hunter2@${nowhere}` })],
  ])(
    'exits with 69 and one sentence if the server of %s is unavailable to %s',
    async (name, program, env) => {
      const args = program === 'rebuild' ? [PROGRAMS, program, '--reason', 'outage'] : [MAIN];
      const { errors, code } = await boot({ CHAIN_RPC_URL: `http://${nowhere}`, ...env() }, args);
      expect(errors).toMatch(new RegExp(`^The .+ of ${name} cannot be reached: .*ECONNREFUSED.*\\.\\n$`));
      for (const unwanted of ['\u001b', 'hunter2', '\n    at ']) expect(errors).not.toContain(unwanted);
      expect(code).toBe(69);
    },
  );

  it('exits with 69 and one sentence if the database does not exist', async () => {
    const wrong = new URL(db.url);
    wrong.pathname = '/no_such_database';
    const { errors, code } = await boot({ CHAIN_RPC_URL: `http://${nowhere}`, DATABASE_URL: wrong.href });
    expect(errors).toMatch(
      // Database and queue are connected in any order.
      /^The (database|queue) of DATABASE_URL cannot be reached: .*"no_such_database" does not exist.*\.\n$/,
    );
    expect(code).toBe(69);
  });

  it.each([
    [
      'an old build stored keys as merchant.key_issued.v1, exchange_key.* and admin_key.*',
      `update disburse_migrations set name = 'Access1795000000200', timestamp = 1795000000200
       where name = 'Access1795000000250'`,
      [MAIN],
      'it has the migration Access1795000000200, which this version does not',
    ],
    ['a table is missing', 'drop table audit.last_head', [MAIN], 'relation "audit.last_head" does not exist'],
    [
      "an operator's program finds a table that its migration creates",
      `delete from disburse_migrations where name = 'Onboarding1795000000401'`,
      [PROGRAMS, 'rebuild', '--reason', 'outage'],
      'schema "onboarding" already exists',
    ],
  ])('says that the database has another schema: %s', async (_what, change, args, why) => {
    const other = await testDatabase();
    try {
      await other.pool.query(change);
      const env = { CHAIN_RPC_URL: `http://${nowhere}`, DATABASE_URL: other.url };
      const { errors, code } = await boot(env, args);
      expect(errors).toBe(
        `The database of DATABASE_URL does not have the schema of this version: ${why}. ` +
          'It was changed, or another version migrated it: start that version (docs/upgrading.md). ' +
          'A database of a build before the first release cannot be used.\n',
      );
      expect(code).toBe(78);
    } finally {
      await other.drop();
    }
  });

  it.each(['keys status', 'rebuild access.directory --reason outage'])(
    'succeeds for a program that needs neither the queue nor the chain: %s',
    async (command) => {
      const env = {
        CHAIN_RPC_URL: `http://${nowhere}`,
        QUEUE_URL: `redis://${nowhere}`,
        DATABASE_URL: db.url,
      };
      expect(await boot(env, [PROGRAMS, ...command.split(' ')])).toEqual({ errors: '', code: 0 });
    },
  );
});

describe('a process with an unhandled rejection', () => {
  const db = onTestDatabase();

  it('logs the rejection, responds to the request in flight and exits with 1', async () => {
    const port = await freePort();
    const log = join(specFolder('uncaught'), 'service.json.log');
    const defect = `data:text/javascript,${encodeURIComponent(DEFECT)}`;
    const service = new TestProcess(process.execPath, ['--import', defect, MAIN], {
      env: {
        PATH: process.env['PATH'],
        ...PRODUCTION,
        ROLES: 'api',
        DATABASE_URL: db.url,
        LOG_FILE: log,
        CHAIN_RPC_URL: `http://127.0.0.1:${await freePort()}`,
        PORT: String(port),
        REQUIRE_HTTPS: 'false',
      },
    });
    try {
      await eventually(() =>
        fetch(`http://127.0.0.1:${port}/health/live`).then(
          ({ ok }) => ok,
          () => false,
        ),
      );
      // The request ends after the defect.
      const socket = connect(port, '127.0.0.1');
      let response = '';
      socket.on('data', (chunk: Buffer) => (response += chunk.toString()));
      const closed = new Promise((resolve) => socket.once('close', resolve));
      const head = 'POST /merchants/v1/users HTTP/1.1\r\nhost: test\r\ncontent-length: 2\r\n';
      await new Promise((resolve) => socket.write(`${head}\r\n{`, resolve));
      await new Promise((resolve) => setTimeout(resolve, 300));
      service.child.kill('SIGUSR2');
      await eventually(() => readFileSync(log, 'utf8').includes('an error was not caught'));
      socket.write('}');
      await closed;
      expect(response).toMatch(/^HTTP\/1\.1 401 /);
      expect(await service.ended).toBe(1);
      const line = readFileSync(log, 'utf8')
        .split('\n')
        .find((each) => each.includes('was not caught'))!;
      expect(JSON.parse(line)).toMatchObject({
        level: 'fatal',
        origin: 'unhandledRejection',
        err: { message: expect.stringContaining('undefined is not iterable') },
      });
    } finally {
      service.child.kill('SIGKILL');
    }
  });
});
