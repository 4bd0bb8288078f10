import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';
import { freePort } from '../../../sandbox/processes.js';
import { eventually } from '../../support/eventually.js';
import { onTestDatabase } from '../../support/postgres.js';
import { specFolder } from '../../support/run-folder.js';

const MAIN = fileURLToPath(new URL('../../../dist/main.js', import.meta.url));
/** What a package does that forgets to handle a rejection. */
const DEFECT = `process.on('SIGUSR2', () => { void Promise.reject(new TypeError('undefined is not iterable')); });`;

const db = onTestDatabase();

it('a rejection that nothing handles is logged, the request in flight gets its response, the process ends with 1', async () => {
  const port = await freePort();
  const log = join(specFolder('uncaught'), 'service.json.log');
  const service = spawn(
    process.execPath,
    ['--import', `data:text/javascript,${encodeURIComponent(DEFECT)}`, MAIN],
    {
      env: {
        PATH: process.env['PATH'],
        MODE: 'production',
        ROLES: 'api',
        DATABASE_URL: db.url,
        LOG_FILE: log,
        PUBLIC_URL: 'https://api.example',
        MASTER_KEY: randomBytes(32).toString('hex'),
        USDC_ADDRESS: `0x${'1'.repeat(40)}`,
        CHAIN_RPC_URL: `http://127.0.0.1:${await freePort()}`,
        PORT: String(port),
        METRICS_PORT: '0',
        REQUIRE_HTTPS: 'false',
      },
      stdio: 'inherit',
    },
  );
  const ended = new Promise<number | null>((resolve) => service.once('exit', resolve));
  try {
    await eventually(() =>
      fetch(`http://127.0.0.1:${port}/health/live`).then(
        ({ ok }) => ok,
        () => false,
      ),
    );
    // The head of the request is sent, its end comes after the defect.
    const socket = connect(port, '127.0.0.1');
    let response = '';
    socket.on('data', (chunk: Buffer) => (response += chunk.toString()));
    const closed = new Promise((resolve) => socket.once('close', resolve));
    const head = 'POST /merchants/v1/users HTTP/1.1\r\nhost: test\r\ncontent-length: 2\r\n';
    await new Promise((resolve) => socket.write(`${head}\r\n{`, resolve));
    await new Promise((resolve) => setTimeout(resolve, 300));
    service.kill('SIGUSR2');
    await eventually(() => readFileSync(log, 'utf8').includes('an error was not caught'));
    socket.write('}');
    await closed;
    expect(response).toMatch(/^HTTP\/1\.1 401 /);
    expect(await ended).toBe(1);
    const line = readFileSync(log, 'utf8')
      .split('\n')
      .find((each) => each.includes('was not caught'))!;
    expect(JSON.parse(line)).toMatchObject({
      level: 'fatal',
      origin: 'unhandledRejection',
      err: { message: expect.stringContaining('undefined is not iterable') },
    });
  } finally {
    service.kill('SIGKILL');
  }
});
