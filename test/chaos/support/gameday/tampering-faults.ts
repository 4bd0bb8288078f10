import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { AdminClient } from '../../../support/admin/admin-client.js';
import { buildNextVersion } from '../next-version.js';
import type { Fault, Faults } from './fault.js';
import { Stage } from './stage.js';

const DAYS = 24 * 3_600_000;
const FORGED = '00000000-0000-4000-8000-000000000001';

async function sql({ shared }: Stage, statements: string): Promise<void> {
  await shared.pool.query(statements);
}

/** A change of the database that the second statements revert. */
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
    merchant_id: stage.merchant.apiKey,
    expires_at: new Date(Date.now() + days * DAYS).toISOString(),
    reason: 'game day',
  });
  if (response.status !== 201) throw new Error(`no credential was issued: ${response.text}`);
  return response.json<{ credential: { id: string } }>().credential.id;
}

async function revoke(stage: Stage, credential: string): Promise<void> {
  const path = `/credentials/${credential}`;
  const response = await admin(stage).change(path, '/revoke', { reason: 'game day' });
  if (response.status !== 200) throw new Error(`it was not revoked: ${response.text}`);
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
        // A process refuses a log that ends before its last position, until the next event.
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

/** Builds the program of the next version. */
function newer({ shared }: Stage): string {
  const folder = shared.environment.folder('next');
  return join(existsSync(folder) ? join(folder, 'dist') : buildNextVersion(folder), 'sandbox', 'main.js');
}
