import { execFile } from 'node:child_process';
import { chmodSync, existsSync, linkSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { startService } from '../../../sandbox/service.js';
import { listenOnSocket } from '../../../src/platform/http/admin/shell-socket.js';
import type { OperationJson } from '../../../src/platform/operations/operations.js';
import { testApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { DISBURSE, Disburse, type DisburseRun, expectEnd } from '../../support/programs/disburse.js';
import { specFolder } from '../../support/run-folder.js';

const REASON = ['--reason', 'requested by the merchant'];

// A separate service, because the suite starts others on its database.
const app = await testApp();

const [ada, bob] = [await app.newAdmin(), await app.newAdmin()];
const shell = new Disburse({ DATA_DIR: app.config.dataDir });
const byKey = shell.with({ DISBURSE_ADMIN_KEY: ada.key, DISBURSE_ADMIN_URL: ada.baseUrl });
const merchantId = app.secondMerchant.credentials.apiKey;

describe('disburse admin', () => {
  const admin = (program: Disburse, ...args: string[]): Promise<DisburseRun> => program.run('admin', ...args);

  it('lists filtered rows, up to a limit or all, as a table or as one line of JSON per row', async () => {
    const all = await admin(shell, 'merchants', 'list', '--all', '--json');
    const merchants = all.lines<{ id: string }>().map(({ id }) => id);
    expect(merchants).toEqual(expect.arrayContaining([merchantId, app.merchant.credentials.apiKey]));
    const limited = await admin(byKey, 'merchants', 'list', '--limit', '1', '--status', 'active');
    expect(limited.output).toMatch(/^id +name +status/);
    expect(limited.output).toContain(merchants[0]);
    expect(limited.output).not.toContain(merchants[1]);
    expect(limited.output).toContain('--limit or --all for more');
    const none = await admin(shell, 'payouts', 'list', '--overdue');
    expect([none.code, none.output]).toEqual([0, 'None.\n']);
  });

  it('displays a resource by its id, the caller with whoami, and the state of the service with system', async () => {
    expect((await admin(shell, 'merchants', 'show', merchantId)).output).toMatch(/name +Test merchant\n/);
    const [whoami] = (await admin(byKey, 'whoami', '--json')).lines();
    expect(whoami).toMatchObject({ actor: { operator_id: ada.operatorId } });
    const [asShell] = (await admin(shell, 'whoami', '--json')).lines();
    expect(asShell).toMatchObject({ actor: { operator_id: null, name: 'shell' }, role: null });
    expect((await admin(shell, 'whoami')).output).toMatch(/^ *merchants +all$/m);
    expect((await admin(shell, 'system')).output).toMatch(/subscriptions\n +name +position/);
  });

  it('creates and updates a merchant by options with nested names, lists and null', async () => {
    const created = await admin(byKey, 'merchants', 'create', '--name', 'Shop', ...REASON, '--json');
    const [{ merchant, operation_id }] = created.lines<{
      merchant: { id: string };
      operation_id: string;
    }>() as [{ merchant: { id: string }; operation_id: string }];
    const { operation } = (await bob.get(`/operations/${operation_id}`)).json();
    expect(operation).toMatchObject({ requested_by: { operator_id: ada.operatorId }, reason: REASON[1] });
    const origins = ['--embedding.origins', 'https://a.example', '--embedding.origins', 'https://b.example'];
    const update = ['merchants', 'update', merchant.id, ...REASON];
    const first = await admin(shell, ...update, ...origins, '--embedding.display-name', 'My shop');
    expect([first.code, first.errors]).toEqual([0, '']);
    await admin(shell, ...update, '--embedding.display-name=null', '--ip-allow-list', '203.0.113.0/24');
    const read = async () => (await ada.get(`/merchants/${merchant.id}`)).json().merchant;
    expect(await read()).toMatchObject({
      ip_allow_list: ['203.0.113.0/24'],
      embedding: { origins: ['https://a.example', 'https://b.example'], display_name: null },
    });
    await admin(shell, ...update, '--ip-allow-list', '[]');
    expect(await read()).toMatchObject({ ip_allow_list: [] });
  });

  it('exits with 1 for a wrong revision and prints the problem on standard error', async () => {
    const suspend = ['merchants', 'suspend', merchantId, ...REASON, '--if-match', '999'];
    const refused = await admin(shell, ...suspend);
    expect([refused.code, refused.output]).toEqual([1, '']);
    expect(refused.errors).toMatch(/was changed since it was read: read it again \(412\)\. Request id: /);
    const asJson = await admin(byKey, ...suspend, '--json');
    expect(JSON.parse(asJson.errors)).toMatchObject({ error: { status: 412 } });
    const invalid = await admin(shell, 'merchants', 'suspend', merchantId, '--reason', 'no');
    expect(invalid.errors).toContain('reason must have 3 to 500 characters');
  });

  it('prints the command for a second operator, which the shell cannot run; --wait ends with the decision', async () => {
    const suspended = await admin(byKey, 'merchants', 'suspend', merchantId, ...REASON);
    expect(suspended.output).toMatch(
      /Done\. Operation .* waits until .* for another person, who may confirm it/,
    );
    const reinstate = ['merchants', 'reinstate', merchantId, ...REASON];
    const pending = await admin(shell, ...reinstate);
    const [, id] = /Nothing is changed yet: operation (\S{36}) \(merchants\.reinstate\)/.exec(
      pending.output,
    )!;
    expect(pending.output).toContain(`disburse admin operations approve ${id} --reason <text>`);
    expect(pending.output).not.toMatch(/^ *operation +none/m);
    const approve = ['operations', 'approve', id!, '--reason', 'agreed'];
    const byShell = await admin(shell, ...approve);
    expectEnd(byShell, 1, 'Only a person decides on operations (403).');
    const waiting = shell.start('admin', 'operations', 'reject', id!, '--reason', 'mine');
    expect(await waiting.ended).toBe(1);
    expect((await admin(byKey, ...approve)).code).toBe(0);
    expect((await ada.get(`/merchants/${merchantId}`)).json()).toMatchObject({
      merchant: { status: 'active' },
    });

    await ada.change(`/merchants/${merchantId}`, '/suspend', { reason: 'again' });
    const open = async () =>
      (await bob.get(`/operations?status=pending_approval&subject_id=${merchantId}`)).json<{
        operations: OperationJson[];
      }>().operations[0];
    for (const [verb, code, text] of [
      ['reject', 1, /is rejected: not now/],
      ['approve', 0, /is decided: not now/],
    ] as const) {
      const wait = shell.start('admin', ...reinstate, '--wait');
      const operation = await eventually(open);
      expect(operation.requested_by).toMatchObject({ operator_id: null, name: 'shell' });
      await bob.post(`/operations/${operation.id}/${verb}`, { reason: 'not now' });
      expect([await wait.ended, wait.text.replace(/\s+/g, ' ')]).toEqual([code, expect.stringMatching(text)]);
    }
  });

  it('revokes a leaked secret with --url as the place where it was found', async () => {
    const created = await admin(
      shell,
      ...['credentials', 'create', '--kind', 'exchange', '--name', 'leaks', '--merchant-id', merchantId],
      ...[...REASON, '--json'],
    );
    const [{ credential }] = created.lines<{ credential: { id: string; secret: string } }>() as [
      { credential: { id: string; secret: string } },
    ];
    const url = ['--url', 'https://paste.example/1'];
    for (const program of [byKey, shell]) {
      const revoke = ['credentials', 'revoke-leaked', '--token', credential.secret, ...url, ...REASON];
      const revoked = await admin(program, ...revoke);
      expect([revoked.code, revoked.errors]).toEqual([0, '']);
      expect(revoked.output).toMatch(new RegExp(`credential_id +${credential.id}`));
    }
    const help = await admin(shell, 'credentials', 'revoke-leaked', '--help');
    expect(help.output.match(/--url .*/g)).toEqual([expect.stringContaining('Where it was found')]);
  });

  it('suggests similar names and reports missing arguments before it sends a request', async () => {
    const nowhere = new Disburse({ DATA_DIR: specFolder('nowhere') });
    for (const [args, error] of [
      ['merchant list', 'There is no resource merchant. Did you mean merchants?'],
      ['merchants lst', 'There is no verb of merchants: lst. Did you mean list?'],
      ['merchants list --stats active', 'There is no option --stats. Did you mean --status?'],
      ['merchants create --name Shop', '--reason must be given'],
      ['merchants show', 'merchants show takes <id>; 0 given'],
      ['merchants list --status closed', '--status must be one of active, suspended; it is closed'],
      ['credentials roll x --overlap-seconds soon', '--reason must be given'],
      ['credentials roll x --reason old --overlap-seconds soon', '--overlap-seconds must be a number'],
      ['merchants', 'Name a verb of merchants: list, create, show, update, suspend, reinstate'],
      ['merchants list --url http://127.0.0.1:1', '--url needs the key of a person in DISBURSE_ADMIN_KEY'],
    ] as const) {
      const run = await admin(nowhere, ...args.split(' '));
      expectEnd(run, 2, error);
    }
    expect((await admin(nowhere, '--help')).output).toMatch(/merchants suspend <id> +Suspend a merchant/);
    expect((await admin(nowhere, 'credentials', 'create', '--help')).output).toMatch(
      /--kind <payouts\|exchange\|admin> +required/,
    );
  });

  it('exits with 69 if no process runs or responds, and with 78 if the path of the socket is too long', async () => {
    const nowhere = new Disburse({ DATA_DIR: specFolder('nowhere') });
    const missing = await admin(nowhere, 'whoami');
    expectEnd(missing, 69, 'No process with the role admin');
    const closed = await admin(byKey.with({ DISBURSE_ADMIN_URL: 'http://127.0.0.1:1' }), 'whoami');
    expectEnd(closed, 69, 'does not respond: ECONNREFUSED');
    const long = await admin(nowhere.with({ DATA_DIR: `/tmp/${'x'.repeat(100)}` }), 'whoami');
    expectEnd(long, 78, 'a shorter DATA_DIR');
  });

  it('can do only what the scopes of its key allow, and is refused with an invalid key', async () => {
    const viewer = await app.newAdmin({ role: 'viewer' });
    const refused = await admin(
      byKey.with({ DISBURSE_ADMIN_KEY: viewer.key }),
      ...['merchants', 'suspend', merchantId, ...REASON],
    );
    expect(refused.errors).toContain('The scope merchants:write is missing (403).');
    const unknown = await admin(byKey.with({ DISBURSE_ADMIN_KEY: `${ada.key}x` }), 'whoami');
    expect(unknown.errors).toContain('The admin key is not valid (401).');
  });
});

describe('the socket of the shell', () => {
  const path = (): string => join(app.config.dataDir, 'admin.sock');
  const asRoot = process.getuid?.() === 0 ? it : it.skip;
  const statusOf = (to: string, headers = {}): Promise<number | undefined> =>
    new Promise((resolve) =>
      request({ socketPath: path(), path: to, headers }, (response) =>
        resolve(response.resume().statusCode),
      ).end(),
    );

  it('is open only to the user of the process and leads only to the admin API', async () => {
    const { mode, uid } = statSync(path());
    expect([(mode & 0o777).toString(8), uid]).toEqual(['600', process.getuid!()]);
    expect(readdirSync(app.config.dataDir)).toEqual(['admin.sock']);
    const run = await new Disburse({ DATA_DIR: app.config.dataDir }).run('admin', 'whoami');
    expect([run.code, run.errors]).toEqual([0, '']);
    expect(await statusOf('/login')).toBe(404);
  });

  it('refuses requests through a proxy, because every client would count as the shell', async () => {
    expect(await statusOf('/admin/v1/whoami')).toBe(200);
    for (const name of ['x-forwarded-for', 'x-real-ip', 'forwarded', 'via'])
      expect(await statusOf('/admin/v1/whoami', { [name]: '127.0.0.1' })).toBe(403);
  });

  asRoot('is not opened if it belongs to another user, who could pretend to be the process', async () => {
    const dataDir = specFolder('theirs');
    const heard: string[] = [];
    const theirs = createServer((socket) => socket.on('data', (data) => heard.push(String(data))).end());
    theirs.listen(join(dataDir, 'admin.sock'));
    await eventually(() => existsSync(join(dataDir, 'admin.sock')));
    chmodSync(join(dataDir, 'admin.sock'), 0o777);
    const script = `process.setgid(65534); process.setuid(65534); process.argv[1] = ${JSON.stringify(DISBURSE)};
      await import(process.argv[1]);`;
    const { stderr } = await promisify(execFile)(
      process.execPath,
      ['--input-type=module', '--eval', script, '--', DISBURSE, 'admin', 'whoami', '--data-dir', dataDir],
      { env: { PATH: process.env['PATH'] } },
    ).catch((error: { stderr: string }) => error);
    theirs.close();
    expect(stderr.replace(/\s+/g, ' ')).toContain('become that user');
    expect(heard).toEqual([]);
  });

  it('is removed at the end of its process, replaces the socket of a killed process, and needs no HTTPS', async () => {
    const dataDir = specFolder('data');
    const config = { ...app.config, dataDir, roles: ['admin'] as const, requireHttps: true };
    const stale = createServer().listen(join(dataDir, 'left'));
    await eventually(() => existsSync(join(dataDir, 'left')));
    linkSync(join(dataDir, 'left'), join(dataDir, 'admin.sock'));
    stale.close();
    await eventually(() => !existsSync(join(dataDir, 'left')));
    const service = await startService(config);
    const run = await new Disburse({ DATA_DIR: dataDir }).run('admin', 'whoami');
    expect([run.code, run.errors]).toEqual([0, '']);
    await service.close();
    expect(readdirSync(dataDir)).toEqual([]);
  });

  it('is not created over the socket of a running process or in an unusable folder', async () => {
    const refused = (dataDir: string) => expect(listenOnSocket(createServer(), dataDir)).rejects;
    const before = statSync(path()).ino;
    await refused(app.config.dataDir).toThrow(`another process serves ${path()}`);
    expect(statSync(path()).ino).toBe(before);
    const file = join(specFolder('file'), 'used');
    writeFileSync(file, '');
    await refused(file).toThrow('used');
    await refused(`/tmp/${'x'.repeat(100)}`).toThrow('longer than 96 bytes: set DATA_DIR to a shorter path');
  });

  it('has mode 600 under any umask', async () => {
    const dataDir = specFolder('data');
    const umask = process.umask(0);
    const server = createServer();
    const remove = await listenOnSocket(server, dataDir).finally(() => process.umask(umask));
    expect((statSync(join(dataDir, 'admin.sock')).mode & 0o777).toString(8)).toBe('600');
    server.close();
    remove();
    expect(existsSync(join(dataDir, 'admin.sock'))).toBe(false);
  });
});
