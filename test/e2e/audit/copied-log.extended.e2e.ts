import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Copied } from '../../../src/contexts/audit/application/copy-log.js';
import type { AuditReport } from '../../../src/contexts/audit/application/verify.js';
import type { SignedHead } from '../../../src/contexts/audit/domain/signed-head.js';
import { openEventStoreDb } from '../../../src/platform/event-store/eventstoredb/eventstoredb-event-store.js';
import { comparePositions, EVENT_STORE, type EventStore } from '../../../src/platform/event-store/port.js';
import { startService } from '../../../sandbox/service.js';
import type { Service } from '../../../src/service.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { CLI, runBuilt } from '../../support/erasure/killed.js';
import { SignedClient } from '../../support/http/signed-client.js';
import { createPayee, PAYOUTS, report, settledPayout } from '../../support/payouts/payout-calls.js';
import { invoke } from '../../support/programs/cli.js';
import { specFolder } from '../../support/run-folder.js';

const eventStoreDb = process.env['EVENTSTOREDB_URL'];

/** In this order: each step begins where the one before has left the log. The server has to be empty. */
(eventStoreDb === undefined ? describe.skip : describe)('copying the log to EventStoreDB and back', () => {
  const url = eventStoreDb!;
  let app: TestApp;
  let running: Service | null = null;
  let merchant: SignedClient;
  let user: string;
  let env: NodeJS.ProcessEnv;
  const acknowledged: string[] = [];
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

  /** Reports payouts until something else than 201 comes, or `enough` says so. Gives the last status. */
  async function reporting(enough: () => boolean): Promise<number> {
    for (;;) {
      const response = await report(merchant, user);
      if (response.status !== 201) return response.status;
      acknowledged.push(response.json<{ payout: { id: string } }>().payout.id);
      if (enough()) return 201;
    }
  }
  const some = (count: number): (() => boolean) => {
    const until = acknowledged.length + count;
    return () => acknowledged.length >= until;
  };
  const copy = async (from: string, to: string, ...options: string[]): Promise<Copied> => {
    const { printed } = await invoke('events', env, '--json', 'copy', '--from', from, '--to', to, ...options);
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
    (await invoke('audit', env, 'heads')).printed
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as SignedHead);
  const verify = async (...options: string[]): Promise<AuditReport> =>
    JSON.parse((await invoke('audit', env, '--json', 'verify', ...options)).printed) as AuditReport;

  /** Everything that was acknowledged is there once, and the books, the read models and all heads are in order. */
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
    ['another name', 'redis', url, '--from and --to must be two event stores'],
    ['the same one twice', url, url, '--from and --to must be two event stores'],
    ['a source that the service does not use', url, 'postgres', 'not the one that this database belongs to'],
    ['a server that is not there', 'postgres', 'esdb://127.0.0.1:1?tls=false', 'cannot be reached'],
    ['an address that is none', 'postgres', 'esdb://:::?tls=false', 'is no address of an EventStoreDB'],
  ])('refuses %s', async (_, from, to, why) => {
    await expect(copy(from, to)).rejects.toThrow(why);
  });

  it('continues after it was killed half-way, and changes nothing the second time', async () => {
    await reporting(some(250));
    const target = openEventStoreDb(url);
    const { child, ended } = runBuilt(app, CLI, env, 'events', 'copy', '--from', 'postgres', '--to', url);
    await eventually(async () => (await target.head()) !== null);
    child.kill('SIGKILL');
    expect(await ended).toBe('SIGKILL');
    const source = app.app.get<EventStore>(EVENT_STORE, { strict: false });
    expect(comparePositions(await target.head(), await source.head())).toBeLessThan(0);
    await target.close();
    let isCopied = false;
    const [status, first] = await Promise.all([
      reporting(() => isCopied),
      copy('postgres', url).finally(() => (isCopied = true)),
    ]);
    expect(status).toBe(201);
    expect(first.copied).toBeGreaterThan(0);
    expect(first.copied).toBeLessThan(first.events);
    expect(first.signed).toBeGreaterThan(0);
    // What was written since the end of the first.
    await eventually(async () => (await heads()).at(-1)!.position === (await source.head()));
    const again = await copy('postgres', url);
    const none = await copy('postgres', url);
    expect(none).toEqual({ ...again, copied: 0, signed: none.events });
    expect((await heads()).at(-1)).toMatchObject({ size: none.events, root: none.merkle_root });
  });

  it('does not let a service follow a copy before the log has moved', async () => {
    await expect(restart(url)).rejects.toThrow('not the one that this database belongs to');
  });

  it('moves the log of a running service, whose writes are refused from then on', async () => {
    const [status, moved] = await Promise.all([reporting(() => false), copy('postgres', url, '--switch')]);
    expect(status).toBe(503);
    expect(moved).toMatchObject({ switched: true });
    env = { ...env, EVENT_STORE_URL: url };
    const before = await heads();
    await app.stop();
    await expect(restart(null)).rejects.toThrow('not the one that this database belongs to');
    await restart(url);
    expect(await reporting(some(20))).toBe(201);
    const payee = await createPayee(merchant);
    const { hash } = await app.chain.transfer(payee.wallet, '12.50');
    const response = await report(merchant, payee.id, { amount: '12.50', transaction_hash: hash });
    const { id } = response.json<{ payout: { id: string } }>().payout;
    acknowledged.push(id);
    expect((await settledPayout(merchant, id)).status).toBe('received');
    await expectInOrder(before);
  });

  it('rebuilds read models from copied and later events', async () => {
    const { exitCode } = await invoke('rebuild', env, '--compare-only');
    expect(exitCode).toBeNull();
  });

  it('moves it back, while nothing is appended, and both have the same heads', async () => {
    let isRefused = false;
    const [, moving] = await Promise.allSettled([
      reporting(() => isRefused),
      copy(url, 'postgres', '--switch').finally(() => (isRefused = true)),
    ]);
    expect(moving).toMatchObject({
      status: 'rejected',
      reason: { message: expect.stringMatching(/are running|still appends/) },
    });
    const before = await heads();
    await stop();
    expect(await copy(url, 'postgres', '--switch')).toMatchObject({ switched: true });
    await expect(restart(url)).rejects.toThrow('not the one that this database belongs to');
    await restart(null);
    expect(await reporting(some(20))).toBe(201);
    await expectInOrder(before);
  });
});
