import { execFile } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from '@jest/globals';
import { BackgroundModule } from '../../../src/platform/jobs/background.module.js';
import { KeyRing } from '../../../src/platform/sealing/key-ring.js';
import { startService } from '../../../sandbox/service.js';
import type { Service } from '../../../src/service.js';
import { startTestApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { freshReport } from '../../support/fresh-report.js';
import { invoke } from '../../support/programs/cli.js';
import { asShell } from '../../support/programs/disburse.js';
import { specFolder } from '../../support/run-folder.js';
import { SignedClient } from '../../support/http/signed-client.js';
import { randomPhone, USERS } from '../../support/payouts/payout-calls.js';
import { FREE_PORTS } from '../../support/free-ports.js';

const REFUSED = /(^|\n)MASTER_KEY does not match the key this database was sealed with\. .*\n78$/;

const newKey = (): string => randomBytes(32).toString('hex');

interface Keys {
  readonly masterKey: string;
  readonly masterKeyFormer: string | null;
}

// A separate database and chain, for services with other keys.
const app = await startTestApp({ OPERATIONS_APPROVALS: 'off' });
await app.stop();

describe('a master key', () => {
  let first: Service;
  const running = new Set<Service>();
  const folders = new Map<Service, string>();

  afterAll(async () => {
    await Promise.all([...running].map((service) => service.close()));
    await app.close();
  });

  const start = async (keys: Keys): Promise<Service> => {
    const dataDir = specFolder('data');
    const service = await startService({ ...app.config, ...keys, dataDir });
    folders.set(service, dataDir);
    running.add(service);
    return service;
  };
  const stop = async (service: Service): Promise<void> => {
    running.delete(service);
    await service.close();
  };
  const client = ({ address }: Service): SignedClient => new SignedClient(address!, app.merchant.credentials);
  const run = async (program: string, keys: Keys, ...args: string[]): Promise<string> => {
    const env = {
      DATABASE_URL: app.config.databaseUrl!,
      MASTER_KEY: keys.masterKey,
      MASTER_KEY_FORMER: keys.masterKeyFormer ?? '',
    };
    return (await invoke(program, env, ...args)).printed;
  };
  const retireFormer = (service: Service): Promise<object> =>
    asShell(folders.get(service)!, 'system', 'retire-former', '--reason', 'a rotation');
  /** Reads the use of each key of the ring from `keys -- status`. */
  const uses = async (keys: Keys): Promise<readonly string[]> =>
    (await run('keys', keys, 'status')).match(/(?<=^ {2}\w{8} {2})(seals|opens only).*$/gm) ?? [];
  const ready = async ({ address }: Service): Promise<string> => {
    const { checks } = (await (await freshReport(() => fetch(`${address}/health/ready`))).json()) as {
      checks: Record<string, { status: string }>;
    };
    return checks['master_key']!.status;
  };
  /** Starts the service in a separate process. Returns the output if it exits for a wrong setting. */
  const refusal = async ({ masterKey }: Keys): Promise<string> => {
    const env = {
      ...process.env,
      MODE: 'production',
      DATABASE_URL: app.config.databaseUrl!,
      MASTER_KEY: masterKey,
      CHAIN_RPC_URL: app.chain.rpcUrl,
      USDC_ADDRESS: app.chain.usdcAddress,
      PUBLIC_URL: 'https://api.example',
      ...FREE_PORTS,
    };
    try {
      await promisify(execFile)(process.execPath, ['dist/main.js'], { env });
      return 'it ended well';
    } catch (error) {
      const { code, stderr } = error as { readonly code: number; readonly stderr: string };
      return `${stderr}${code}`;
    }
  };
  /** Ages the processes' last use and the keys. */
  const pass = async (seconds: number): Promise<void> => {
    await app.database.query(
      `update platform.key_ring set seals_from = seals_from - make_interval(secs => $1),
         seen_at = seen_at - make_interval(secs => $1)`,
      [seconds],
    );
  };

  it('stops the service and the operator programs with a message if it is wrong', async () => {
    const wrong = { masterKey: newKey(), masterKeyFormer: null };
    expect(await refusal(wrong)).toMatch(REFUSED);
    await expect(run('keys', wrong, 'status')).rejects.toThrow(
      'MASTER_KEY does not match the key this database was sealed with',
    );
    await expect(run('audit', wrong, 'verify')).rejects.toThrow('MASTER_KEY does not match the key');
  });

  it('can be replaced under load, process by process, without a failed request', async () => {
    const present = { masterKey: app.config.masterKey!, masterKeyFormer: null };
    const next = { masterKey: newKey(), masterKeyFormer: present.masterKey };
    first = await start(present);
    let targets = [client(first)];
    const users: { readonly id: string; readonly phone: string }[] = [];
    const failures: string[] = [];
    let running = true;
    const expectStatus = (status: number, expected: number, what: string): void => {
      if (status !== expected) failures.push(`${what}: ${status}`);
    };
    const load = async (place: number): Promise<void> => {
      for (let round = place; running; round += 1) {
        const phone = randomPhone();
        const target = targets[round % targets.length]!;
        const created = await target.post(USERS, { phone_number: phone }, randomUUID());
        expectStatus(created.status, 201, 'create');
        const { id } = created.json().user;
        users.push({ id, phone });
        const read = await targets[(round + 1) % targets.length]!.get(`${USERS}/${id}`);
        if (read.json().user.phone_number !== phone) {
          failures.push(`read: ${read.status}`);
        }
        const again = await targets[(round + 1) % targets.length]!.post(USERS, { phone_number: phone });
        expectStatus(again.status, 422, 'the same phone number again');
      }
    };
    const someMore = async (): Promise<void> => {
      const until = users.length + 20;
      while (users.length < until && failures.length === 0)
        await new Promise((resolve) => setTimeout(resolve, 10));
    };
    const loads = [0, 1, 2, 3].map(load);
    try {
      await someMore();
      const second = await start(next);
      targets = [client(first), client(second)];
      await someMore();
      await expect(retireFormer(second)).rejects.toThrow('A process used a former key');

      const third = await start(next);
      targets = [client(second), client(third)];
      await someMore();
      expect(JSON.parse(await run('keys', next, '--json', 'status'))).toMatchObject({
        master_keys: [{ setting: 'MASTER_KEY_FORMER' }, { setting: 'MASTER_KEY' }],
      });
      expect(await uses(next)).toEqual(['seals']);
      // It would log its use of the former key every few seconds.
      await first.app.get(BackgroundModule).beforeApplicationShutdown();
      await pass(121);
      expect(await retireFormer(second)).toMatchObject({ operation: { status: 'executed' } });
      expect(await uses(next)).toEqual(['seals', expect.stringMatching(/^seals from /)]);
      // A process with the former, removed key continues, and logs that it could not start again.
      await first.app.get(KeyRing).refresh();
      expect(await ready(first)).toBe('unavailable');
      expect((await client(first).get(`${USERS}/${users[0]!.id}`)).status).toBe(200);
      await stop(first);

      for (const service of [second, third]) await service.app.get(KeyRing).refresh();
      await pass(121);
      expect(await uses(next)).toEqual(['opens only', 'seals']);
      await someMore();
      for (const service of [second, third]) {
        await service.app.get(KeyRing).refresh();
        await someMore();
        await eventually(async () => (await ready(service)) === 'ok');
      }
    } finally {
      running = false;
    }
    await Promise.all(loads);
    expect(failures).toEqual([]);

    expect(await refusal(present)).toMatch(REFUSED);
    const last = client(await start({ ...next, masterKeyFormer: null }));
    for (const { id, phone } of users) {
      expect((await last.get(`${USERS}/${id}`)).json().user.phone_number).toBe(phone);
    }
    expect(await run('audit', { ...next, masterKeyFormer: null }, 'verify')).toContain('\nin order: ');
  });
});
