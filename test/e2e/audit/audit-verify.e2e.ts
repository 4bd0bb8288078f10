import {
  appendFileSync,
  cpSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestApp, type TestApp } from '../../support/app.js';
import { invoke, type Run } from '../../support/programs/cli.js';
import {
  createPayee,
  createUser,
  getPayout,
  reported,
  settledPayout,
} from '../../support/payouts/payout-calls.js';

interface Report {
  readonly violations: { rule: string }[];
  readonly differences: string[];
  readonly faults: string[];
  readonly not_checked: string[];
  readonly read: number;
}

const verified = async (env: NodeJS.ProcessEnv, ...args: string[]): Promise<Report & Run> => {
  const run = await invoke('audit', env, '--json', 'verify', ...args);
  return { ...(JSON.parse(run.printed) as Report), ...run };
};

describe('npm run audit -- verify', () => {
  let app: TestApp;
  let received: string;
  let pending: string;
  let payee: string;
  let merchantId: string;
  const folders = mkdtempSync(join(tmpdir(), 'disburse-verify-'));
  const env = (): NodeJS.ProcessEnv => ({ DATABASE_URL: app.config.databaseUrl! });
  const verify = (...args: string[]): Promise<Report & Run> => verified(env(), ...args);

  beforeAll(async () => {
    app = await startTestApp();
    const user = await createPayee(app.merchant);
    payee = user.id;
    const { hash } = await app.chain.transfer(user.wallet, '2');
    received = (await reported(app.merchant, payee, { amount: '2', transaction_hash: hash })).id;
    await settledPayout(app.merchant, received);
    pending = (await reported(app.merchant, await createUser(app.merchant), { amount: '7.50' })).id;
    await getPayout(app.merchant, pending);
    const [row] = await app.database.query<{ id: string }>(
      `select merchant_id as id from payouts.payouts where id = '${pending}'`,
    );
    merchantId = row!.id;
  });
  afterAll(async () => {
    await app.close();
    rmSync(folders, { recursive: true });
  });

  it('is quiet while payouts are being reported, and so is the verify of an export', async () => {
    const reports = Array.from({ length: 30 }, () => reported(app.merchant, payee));
    for (let round = 0; round < 3; round += 1) expect((await verify()).exitCode).not.toBe(2);
    await Promise.all(reports);
    await getPayout(app.merchant, pending);
    const out = join(folders, 'written');
    await invoke('audit', env(), 'export', '--out', out);
    expect((await verify('--from', out)).exitCode).not.toBe(2);
    expect((await verify('--from', out, '--offline')).exitCode).not.toBe(2);
    await reported(app.merchant, payee);
    await getPayout(app.merchant, pending);
    const behind = await verify('--from', out);
    expect(behind.exitCode).toBe(1);
    expect(behind.not_checked.join()).toContain('the export ends before their checkpoints');
  });

  describe('of an export, offline', () => {
    const whole = join(folders, 'whole');
    const copy = join(folders, 'copy');
    const offline = (path: string): Promise<Report & Run> => verified({}, '--from', path, '--offline');
    beforeAll(() => invoke('audit', env(), 'export', '--out', whole, '--part-events', '10'));

    const part = (n: number): string => join(copy, `events-00000${n}.ndjson`);
    const flip = (path: string, at: number): void => {
      const bytes = readFileSync(path);
      bytes[at]! ^= 1;
      writeFileSync(path, bytes);
    };

    it('is in order, and needs no settings', async () => {
      const report = await offline(whole);
      expect(report).toMatchObject({ exitCode: 1, faults: [], violations: [] });
      expect(report.not_checked).toContainEqual(expect.stringContaining('keys of the ledger are not pinned'));
      expect(report.read).toBeGreaterThan(40);
    });

    it.each<[string, () => void, RegExp]>([
      [
        'a flipped byte',
        () => flip(part(2), 300),
        /events-000002.ndjson, line 1: does not have its leaf hash/,
      ],
      [
        'a flipped byte of a leaf hash',
        () => flip(part(2), readFileSync(part(2)).indexOf('\n') - 5),
        /events-000002.ndjson, line 1/,
      ],
      ['a missing part', () => rmSync(part(3)), /events-000003.ndjson is missing/],
      [
        'a cut line',
        () => truncateSync(part(1), readFileSync(part(1)).length - 20),
        /events-000001.ndjson, line 10: is cut/,
      ],
      [
        'swapped parts',
        () => {
          renameSync(part(1), part(9));
          renameSync(part(2), part(1));
          renameSync(part(9), part(2));
        },
        /events-000001.ndjson has the SHA-256/,
      ],
      [
        'a line twice',
        () => appendFileSync(part(1), readFileSync(part(1), 'utf8').split('\n')[0]! + '\n'),
        /events-000001.ndjson has 11 events, and manifest.json says 10/,
      ],
      [
        'a manifest of fewer events',
        () => {
          const manifest = JSON.parse(readFileSync(join(copy, 'manifest.json'), 'utf8')) as {
            parts: object[];
          };
          manifest.parts.pop();
          writeFileSync(join(copy, 'manifest.json'), JSON.stringify(manifest));
        },
        /is no part that manifest.json names/,
      ],
    ])('names %s', async (_name, tamper, fault) => {
      rmSync(copy, { recursive: true, force: true });
      cpSync(whole, copy, { recursive: true });
      tamper();
      const report = await offline(copy);
      expect(report.exitCode).toBe(2);
      expect(report.faults.join('\n')).toMatch(fault);
    });

    it('verifies a part of the log, and reports what it cannot verify', async () => {
      const out = join(folders, 'part');
      await invoke('audit', env(), 'export', '--out', out, '--from', '10');
      expect(await offline(out)).toMatchObject({ exitCode: 1, faults: [], violations: [] });
      expect(await offline(part(1).replace('copy', 'whole'))).toMatchObject({ exitCode: 1, violations: [] });
      const merchant = join(folders, 'merchant');
      await invoke('audit', env(), 'export', '--out', merchant, '--merchant', merchantId);
      expect(await offline(merchant)).toMatchObject({ exitCode: 1, faults: [], violations: [] });
    });

    it('says what it has nothing to check of', async () => {
      await expect(verified({}, '--offline')).rejects.toThrow(
        '--offline reads an export: name it with --from',
      );
      await expect(offline(join(folders, 'none'))).rejects.toThrow('is not there');
      await expect(offline(folders)).rejects.toThrow('has no manifest.json');
    });
  });
});
