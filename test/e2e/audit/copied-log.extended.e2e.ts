import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ProofResponse } from '../../../src/contexts/audit/ledger/ledger.controller.js';
import type { Copied } from '../../../src/contexts/audit/export/events.program.js';
import type { AuditReport } from '../../../src/contexts/audit/verify/verify.service.js';
import type { SignedHead } from '../../../src/contexts/audit/ledger/signed-head.js';
import { openEventStoreDb } from '../../../src/platform/event-store/eventstoredb/eventstoredb-event-store.js';
import { comparePositions, EVENT_STORE, type EventStore } from '../../../src/platform/event-store/port.js';
import { startService } from '../../../sandbox/service.js';
import type { Service } from '../../../src/service.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { readHeads } from '../../support/audit/signed-log.js';
import { eventually } from '../../support/eventually.js';
import { CLI, runBuilt } from '../../support/erasure/killed.js';
import { SignedClient } from '../../support/http/signed-client.js';
import { createPayee, PAYOUTS, report, settledPayout } from '../../support/payouts/payout-calls.js';
import { invoke } from '../../support/programs/cli.js';
import { specFolder } from '../../support/run-folder.js';

const eventStoreDb = process.env['EVENTSTOREDB_URL'];

/** The steps depend on their order. The server has to be empty. */
(eventStoreDb === undefined ? describe.skip : describe)('copying the log to EventStoreDB and back', () => {
  const url = eventStoreDb!;
  let app: TestApp;
  let running: Service | null = null;
  let merchant: SignedClient;
  let user: string;
  let env: NodeJS.ProcessEnv;
  const acknowledged: string[] = [];
  let before: readonly SignedHead[];
  let end: string;
  const kept = (): string => join(specFolder('kept'), 'heads.ndjson');

  beforeAll(async () => {
    app = await startTestApp({ AUDIT_HEAD_SECONDS: '1' });
    ({ merchant } = app);
    env = { DATABASE_URL: app.config.databaseUrl!, MASTER_KEY: app.config.masterKey! };
    user = (await createPayee(merchant)).id;
  });
  afterAll(async () => {
    await stop();
    await app?.close();
  });

  const reporting = async (count: number): Promise<void> => {
    for (let n = 0; n < count; n += 1) {
      const response = await report(merchant, user);
      expect(response.status).toBe(201);
      acknowledged.push(response.json().payout.id);
    }
  };
  const copy = async (from: string, to: string): Promise<Copied> => {
    const { printed } = await invoke('events', env, '--json', 'copy', '--from', from, '--to', to);
    return JSON.parse(printed) as Copied;
  };
  const stop = async (): Promise<void> => {
    const service = running;
    running = null;
    await service?.close();
  };
  const restart = async (eventStoreUrl: string | null): Promise<void> => {
    await stop();
    const started = await startService({ ...app.config, eventStoreUrl });
    running = started;
    merchant = new SignedClient(started.address!, app.merchant.credentials);
    env = { ...env, EVENT_STORE_URL: eventStoreUrl ?? '' };
  };
  const heads = async (): Promise<readonly SignedHead[]> =>
    readHeads((await invoke('audit', env, 'heads')).printed);
  const verify = async (...options: string[]): Promise<AuditReport> =>
    JSON.parse((await invoke('audit', env, '--json', 'verify', ...options)).printed) as AuditReport;

  /** Everything acknowledged exists once. Books, read models and all heads are in order. */
  async function expectInOrder(keptHeads: readonly SignedHead[]): Promise<void> {
    const file = kept();
    writeFileSync(file, keptHeads.map((head) => JSON.stringify(head)).join('\n'));
    await eventually(async () => (await heads()).at(-1)!.size > keptHeads.at(-1)!.size);
    const found = await verify('--head', file);
    expect(found).toMatchObject({ violations: [], differences: [], not_checked: [] });
    expect(found.ledger!.findings).toEqual([]);
    expect(found.ledger!.proven!.size).toBeGreaterThan(keptHeads.at(-1)!.size);
    for (const id of acknowledged.filter((_, place) => place % 10 === 0 || place > acknowledged.length - 5))
      expect((await merchant.get(`${PAYOUTS}/${id}`)).status).toBe(200);
    const { pending, received, expired } = found.books!.payouts;
    expect(pending + received + expired).toBe(acknowledged.length);
  }

  it.each([
    ['an unknown event store', 'redis', url, '--from and --to must be two event stores'],
    ['the same event store twice', url, url, '--from and --to must be two event stores'],
    ['a source that the service does not use', url, 'postgres', 'not the one that this database belongs to'],
    ['a log that processes write', 'postgres', url, 'Processes of the service that ran in the last minute'],
  ])('the copy of a log refuses %s', async (_, from, to, why) => {
    await expect(copy(from, to)).rejects.toThrow(why);
  });

  it('the copy of a log refuses an unreachable server and an invalid address', async () => {
    await reporting(250);
    end = (await app.app.get<EventStore>(EVENT_STORE, { strict: false }).head())!;
    await eventually(async () => (await heads()).at(-1)!.position === end);
    before = await heads();
    await app.stop();
    await expect(copy('postgres', 'esdb://127.0.0.1:1?tls=false')).rejects.toThrow('cannot be reached');
    await expect(copy('postgres', 'esdb://:::?tls=false')).rejects.toThrow(
      'is not a valid EventStoreDB connection string',
    );
  });

  it('a copy that was killed half-way continues, and then both stores have the same heads', async () => {
    const target = openEventStoreDb(url);
    const { child, ended } = runBuilt(app, CLI, env, 'events', 'copy', '--from', 'postgres', '--to', url);
    await eventually(async () => (await target.head()) !== null);
    child.kill('SIGKILL');
    expect(await ended).toBe('SIGKILL');
    expect(comparePositions(await target.head(), end)).toBeLessThan(0);
    await target.close();
    await expect(restart(url)).rejects.toThrow('not the one that this database belongs to');
    const copied = await copy('postgres', url);
    expect(copied.copied).toBeGreaterThan(0);
    expect(copied.copied).toBeLessThan(copied.events);
    expect(before.at(-1)).toMatchObject({ size: copied.events, root: copied.merkle_root });
  });

  it('the log moves to EventStoreDB, and the service runs with the copy alone', async () => {
    env = { ...env, EVENT_STORE_URL: url };
    await expect(restart(null)).rejects.toThrow('not the one that this database belongs to');
    await restart(url);
    await reporting(20);
    const payee = await createPayee(merchant);
    const { hash } = await app.chain.transfer(payee.wallet, '12.50');
    const response = await report(merchant, payee.id, { amount: '12.50', transaction_hash: hash });
    const { id } = response.json().payout;
    acknowledged.push(id);
    expect((await settledPayout(merchant, id)).status).toBe('received');
    await expectInOrder(before);
  });

  it('the holder of a pinned key can verify a payout, and an export with copied and later events', async () => {
    const program = '../../../examples/audit-verifier/verify-proof.mjs';
    const { verifyProof } = (await import(program)) as {
      verifyProof(proof: ProofResponse['proof'], key: string): { events: readonly object[] };
    };
    const proof = await eventually(async () => {
      const response = await merchant.get(`${PAYOUTS}/${acknowledged.at(-1)!}/proof`);
      return response.status === 200 && response.json().proof;
    });
    expect(verifyProof(proof, proof.head.public_key).events).toHaveLength(2);
    const [out, pem] = [join(specFolder('export'), 'out'), join(specFolder('key'), 'key.pem')];
    writeFileSync(pem, proof.head.public_key);
    await invoke('audit', env, 'export', '--out', out);
    const found = await verify('--from', out, '--offline', '--key', pem);
    expect(found).toMatchObject({ violations: [], faults: [], not_checked: [], ledger: { findings: [] } });
  });

  it('the log moves back to PostgreSQL, and both stores have the same heads', async () => {
    before = await heads();
    await stop();
    await copy(url, 'postgres');
    await expect(restart(url)).rejects.toThrow('not the one that this database belongs to');
    await restart(null);
    await reporting(20);
    await expectInOrder(before);
  });
});
