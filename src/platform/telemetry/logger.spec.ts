import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Log } from './logger.js';
import { telemetryConfig } from '../config/config.js';

let folder: string;
let log: Log;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'disburse-log-'));
  log = Log.open(telemetryConfig({ LOG_FILE: join(folder, 'service.log') }));
});
afterEach(() => rm(folder, { recursive: true }));

async function lastLine(): Promise<Record<string, unknown>> {
  log.onApplicationShutdown();
  const lines = (await readFile(join(folder, 'service.log'), 'utf8')).trim().split('\n');
  return JSON.parse(lines.at(-1)!) as Record<string, unknown>;
}

describe('log lines of Nest', () => {
  it('consist of a redacted text, its level and its context', async () => {
    log.warn('call +14155550100', 'Dialer');
    expect(await lastLine()).toMatchObject({ level: 'warn', msg: 'call [redacted]', context: 'Dialer' });
  });

  it('contain each field of an object, and the type and the message of its error', async () => {
    log.warn(
      { msg: 'request retried', attempt: 2, error: new Error('no route to ada@example.com') },
      'Worker',
    );
    const line = await lastLine();
    expect(line).toMatchObject({ level: 'warn', msg: 'request retried', attempt: 2, context: 'Worker' });
    expect(line['error']).toMatchObject({ type: 'Error', message: 'no route to [redacted]' });
  });

  it('contain no secrets and no personal data, at any depth', async () => {
    log.error({
      msg: 'could not send to +1 415 555 0100 or ada@example.com',
      nested: {
        phone_number: '+14155550100',
        deep: [{ signing_secret: 'x', code: '123456', status: 'kept' }],
      },
      private_key: 'dsk_0123',
      privateKey: 'sk_1',
      big: 12n,
      note: 'mail bob@example.org with whsec_AbC+/= or dsb_live_admin_AbC',
      err: Object.assign(new Error('connect postgres://user:hunter2@host/db for eve@example.net'), {
        code: 'ECONNREFUSED',
      }),
    });
    // The digits of a leak may also be those of a pid or a time.
    const { pid: _pid, time: _time, ...line } = await lastLine();
    const text = JSON.stringify(line);
    for (const leak of ['5550100', '555 0100', 'example.', 'AbC', '123456', 'dsk_', 'sk_1', 'hunter2'])
      expect(text).not.toContain(leak);
    expect(line).toMatchObject({
      private_key: '[redacted]',
      big: '12',
      nested: { phone_number: '[redacted]', deep: [{ signing_secret: '[redacted]', status: 'kept' }] },
      err: { code: 'ECONNREFUSED' },
    });
  });

  it('contain the stack of an error', async () => {
    log.error(new TypeError('broken'), 'Worker');
    const line = await lastLine();
    expect(line).toMatchObject({ msg: 'broken', context: 'Worker' });
    expect(line['err']).toMatchObject({ type: 'TypeError', stack: expect.stringContaining('logger.spec') });
  });
});

describe('wide lines', () => {
  it('appear in the order in which they and other lines were written, even if there are many', async () => {
    const written: string[] = [];
    for (let n = 0; n < 200; n += 1) {
      if (n % 50 === 7) log.warn(`other ${n}`);
      else log.wideLog(`wide ${n}`, { filler: 'x'.repeat(100) });
      written.push(n % 50 === 7 ? `other ${n}` : `wide ${n}`);
    }
    log.onApplicationShutdown();
    const lines = (await readFile(join(folder, 'service.log'), 'utf8')).trim().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual(written);
  });

  it('appear in the log of a process that exits at once', async () => {
    const program = `
      import { Log } from ${JSON.stringify(new URL('logger.ts', import.meta.url).href)};
      Log.open({ logLevel: 'info', logFile: ${JSON.stringify(join(folder, 'other.log'))} }).wideLog('last words', {});
      process.exit(0);`;
    spawnSync(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', program]);
    expect(await readFile(join(folder, 'other.log'), 'utf8')).toContain('last words');
  });
});
