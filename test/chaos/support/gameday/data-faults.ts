import { existsSync, appendFileSync, mkdirSync, rmdirSync, rmSync } from 'node:fs';
import { join, dirname } from 'node:path';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { execFileSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { AdminClient } from '../../../support/admin/admin-client.js';
import { buildNextVersion } from '../next-version.js';
import type { Fault, Faults } from './fault.js';
import { Stage } from './stage.js';
import { expectStatus, REGISTER_ENDPOINT } from '../payouts.js';
import { LocalServer } from '../../../support/http/local-server.js';
import { Teardown } from '../../../../sandbox/teardown.js';
import { copyFolder } from '../restores/copy-folder.js';
import type { Shared } from '../shared.js';

const DAYS = 24 * 3_600_000;
const FORGED = '00000000-0000-4000-8000-000000000001';

async function sql({ shared }: Stage, statements: string): Promise<void> {
  await shared.pool.query(statements);
}

/** A change of the database that `reverted` reverts. */
const changed = (
  name: string,
  alert: string,
  change: string,
  reverted: string,
  more: Partial<Pick<Fault, 'begin' | 'end'>> = {},
): Fault => ({
  name,
  alerts: [alert],
  begin: async (stage) => {
    await sql(stage, change);
    await more.begin?.(stage);
  },
  end: async (stage) => {
    await sql(stage, reverted);
    await more.end?.(stage);
  },
});

const admin = ({ api }: Stage): AdminClient => new AdminClient(api.adminUrl, api.admin.api_key, '');

async function issue(stage: Stage, days: number): Promise<string> {
  const response = await admin(stage).post('/credentials', {
    kind: 'payouts',
    name: 'game day',
    merchant_id: stage.api.merchant.apiKey,
    expires_at: new Date(Date.now() + days * DAYS).toISOString(),
    reason: 'game day',
  });
  return expectStatus(response, 201).json<{ credential: { id: string } }>().credential.id;
}

async function revoke(stage: Stage, credential: string): Promise<void> {
  const path = `/credentials/${credential}`;
  expectStatus(await admin(stage).change(path, '/revoke', { reason: 'game day' }), 200);
}

export function tamperingFaults(): Faults {
  let credential = '';
  return {
    start: () => Stage.start(),
    prepare: async (stage) => {
      await stage.report(2, { paid: true });
      await stage.program(['audit', 'verify']);
    },
    faults: [
      {
        name: 'a key expires in three days',
        alerts: ['CredentialExpires'],
        begin: async (stage) => void (credential = await issue(stage, 3)),
        end: (stage) => revoke(stage, credential),
      },
      changed(
        'a head of the ledger was changed',
        'LedgerTampered',
        'update audit.last_head set size = size - 1',
        'update audit.last_head set size = size + 1',
      ),
      changed(
        'an event was changed',
        'AuditVerifyFailed',
        `update event_store.events set recorded_at = recorded_at + interval '1 s' where position = 1`,
        `update event_store.events set recorded_at = recorded_at - interval '1 s' where position = 1`,
        {
          begin: (stage) => stage.program(['audit', 'verify'], 'exit code 2'),
          end: (stage) => stage.program(['audit', 'verify']),
        },
      ),
      changed(
        'the database belongs to another log',
        'EventStoreUnavailable',
        `create table event_store.former_identity as table event_store.log_identity;
       update event_store.log_identity set log_id = gen_random_uuid()`,
        `update event_store.log_identity set log_id = (select log_id from event_store.former_identity);
       drop table event_store.former_identity`,
      ),
      changed(
        'somebody removed the master key that processes use',
        'MasterKeyReplaced',
        `create table platform.former_ring as table platform.key_ring;
       update platform.key_ring set master_id = reverse(master_id)`,
        `update platform.key_ring ring set master_id = former.master_id from platform.former_ring former
       where former.key_id = ring.key_id; drop table platform.former_ring`,
      ),
      changed(
        'an event was forged',
        'SubscriptionHalted',
        `insert into event_store.events (position, stream, revision, id, type, data, metadata, recorded_at)
       select nextval('event_store.position'), stream || '0', 0, '${FORGED}', type, data, metadata, now()
       from event_store.events order by position limit 1`,
        `delete from event_store.events where id = '${FORGED}'`,
        // The service refuses a log that ends before its last position, until the next event.
        { end: (stage) => stage.report(1, { paid: false }) },
      ),
      {
        name: 'a newer version wrote an event',
        alerts: ['SubscriptionHalted'],
        begin: async (stage) => {
          await stage.replace('api', {}, newer(stage));
          await stage.report(1, { paid: false });
        },
        end: (stage) => stage.replace('worker', {}, newer(stage)),
      },
    ],
  };
}

function newer({ shared }: Stage): string {
  const folder = shared.environment.folder('next');
  return join(existsSync(folder) ? join(folder, 'dist') : buildNextVersion(folder), 'sandbox', 'main.js');
}

const { path: ENDPOINTS } = REGISTER_ENDPOINT;
const DELIVERIES = 400;

/** A receiver that sends no response until it is released. */
class HangingReceiver extends LocalServer {
  private hangs = true;

  recover(): void {
    this.hangs = false;
    this.disconnect();
  }

  protected override async respond(_request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!this.hangs) response.writeHead(204).end();
  }
}

export function queueFaults(): Faults {
  const receiver = new HangingReceiver();
  return {
    start: () => Stage.start({ queue: 'redis' }),
    faults: [
      {
        name: 'Redis is down',
        alerts: ['QueueUnavailable'],
        begin: ({ redis }) => redis!.kill(),
        end: ({ redis }) => redis!.restart(),
      },
      {
        name: 'Redis hangs',
        alerts: ['QueueUnavailable'],
        begin: async ({ redis }) => void process.kill(redis!.pid, 'SIGSTOP'),
        end: async ({ redis }) => void process.kill(redis!.pid, 'SIGCONT'),
      },
      {
        name: 'a receiver does not respond',
        alerts: ['DeliveriesStuck'],
        begin: async ({ api: { client }, ends }) => {
          await receiver.restart();
          ends.add(() => receiver.shutDown());
          const created = await client.post(ENDPOINTS, { webhook_endpoint: { url: receiver.url } });
          const { id } = expectStatus(created, 201).json().webhook_endpoint as { id: string };
          for (let n = 0; n < DELIVERIES; n += 1)
            expectStatus(await client.post(`${ENDPOINTS}/${id}/test_delivery`), 202);
        },
        end: async () => receiver.recover(),
      },
    ],
  };
}

const DISK_MIB = 400;

/** The disk of PostgreSQL, in memory. */
const disk = join(tmpdir(), `disburse-disk-${process.pid}`);
const ballast = join(disk, 'ballast');

function mountDisk(ends: Teardown): void {
  mkdirSync(disk, { mode: 0o711 });
  ends.add(() => rmdirSync(disk));
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_MIB}m,mode=0711`, 'tmpfs', disk]);
  ends.add(() => void execFileSync('umount', [disk]));
}

async function onSmallDisk(shared: Shared): Promise<void> {
  const data = shared.environment.postgresData;
  await shared.environment.killPostgres();
  const folder = join(disk, 'postgres');
  await copyFolder(dirname(data), folder);
  await shared.replacePostgres(folder, {});
}

function fillUp(file: string): void {
  const zeros = Buffer.alloc(1024 * 1024);
  try {
    for (;;) appendFileSync(file, zeros);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  }
}

/** Faults of PostgreSQL's disk. Only root may mount it. */
export const diskFaults = (): Faults => ({
  start: () => {
    const ends = new Teardown();
    mountDisk(ends);
    return Stage.start({ prepare: onSmallDisk, ends });
  },
  faults: [
    {
      // The server ends because its log is on the disk.
      name: 'the disk of PostgreSQL is full',
      alerts: ['DatabaseUnavailable'],
      begin: async () => fillUp(ballast),
      end: async ({ shared }) => {
        rmSync(ballast);
        await shared.environment.restartPostgres();
      },
    },
  ],
});
