import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { appendFileSync, cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import ts from 'typescript';
import { freePort } from '../../sandbox/processes.js';
import { eventsOf, type Context } from '../../src/platform/context.js';
import { EventCodec } from '../../src/platform/event-store/event-codec.js';
import { EventRegistry } from '../../src/platform/event-store/event-registry.js';
import type { RecordedEvent } from '../../src/platform/event-store/port.js';
import { eventually } from '../support/eventually.js';
import { dropTestDatabase, testDatabaseUrl } from '../support/postgres.js';
import { specFolder } from '../support/run-folder.js';
import { SignedClient } from '../support/http/signed-client.js';

const ROOT = resolve('.');
const COPIED = [
  ...['src', 'sandbox', 'scripts', 'package.json', '.swcrc', 'nest-cli.json', '.dependency-cruiser.mjs'],
  ...['tsconfig.json', 'tsconfig.build.json'],
];
/** A file of the document: its path, whether it is a line more of one that exists, and its text. */
const BLOCK = /^`(src\/[^`]+)`(, one more line)?\n\n```ts\n(.*?)```$/gms;

/** What tsc says of these files; of the others it says what it says of the tree that is copied. */
function typeErrors(folder: string, files: readonly string[]): string[] {
  const { config } = ts.readConfigFile(join(folder, 'tsconfig.build.json'), (name) => ts.sys.readFile(name));
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, folder);
  const program = ts.createProgram(files, { ...options, noEmit: true, incremental: false });
  return files
    .flatMap((file) => ts.getPreEmitDiagnostics(program, program.getSourceFile(file)))
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '));
}

/** docs/extending.md, followed to the letter on a copy of the tree. */
describe('docs/extending.md', () => {
  let copy = '';
  const written: string[] = [];
  let databaseUrl = '';
  let service: ChildProcess | null = null;
  const tool = (file: string, ...args: string[]): string =>
    execFileSync(process.execPath, [join('node_modules', file), ...args], {
      cwd: copy,
      encoding: 'utf8',
      maxBuffer: 1 << 26,
    });

  beforeAll(async () => {
    copy = specFolder('extending');
    for (const name of COPIED) cpSync(join(ROOT, name), join(copy, name), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
    const document = readFileSync(join(ROOT, 'docs', 'extending.md'), 'utf8');
    for (const [, path, more, text] of document.matchAll(BLOCK)) {
      const file = join(copy, path!);
      mkdirSync(dirname(file), { recursive: true });
      if (more === undefined) writeFileSync(file, text!);
      else appendFileSync(file, text!);
      written.push(file);
    }
    databaseUrl = await testDatabaseUrl();
  });

  afterAll(async () => {
    service?.kill('SIGKILL');
    await dropTestDatabase(databaseUrl);
  });

  it('changes one line outside the folder of the new context', () => {
    const numbers = ['--no-pager', 'diff', '--no-index', '--numstat', join(ROOT, 'src'), join(copy, 'src')];
    const { stdout } = spawnSync('git', numbers, { encoding: 'utf8' });
    const changed = stdout.trimEnd().split('\n');
    const inside = changed.filter((line) => line.includes('/contexts/notes/'));
    expect(inside.length).toBeGreaterThan(8);
    expect(changed.filter((line) => !inside.includes(line))).toEqual([
      expect.stringMatching(/^1\t0\t.*contexts\/index\.ts/),
    ]);
  });

  it('makes a tree that passes the type check and the dependency rules', () => {
    expect(typeErrors(copy, written)).toEqual([]);
    const rules = "import base from './.dependency-cruiser.mjs';\n";
    // Packages are where the copy shows them.
    const linked = 'export default { ...base, options: { ...base.options, preserveSymlinks: true } };\n';
    writeFileSync(join(copy, 'rules.mjs'), rules + linked);
    tool('dependency-cruiser/bin/dependency-cruise.mjs', 'src/contexts', '--config', 'rules.mjs');
  });

  it('makes a service that migrates, boots and responds as it says', async () => {
    tool('@nestjs/cli/bin/nest.js', 'build');
    execFileSync(process.execPath, ['scripts/openapi.mjs'], { cwd: copy });
    const document = readFileSync(join(copy, 'dist', 'openapi', 'production.json'), 'utf8');
    expect(Object.keys((JSON.parse(document) as { paths: object }).paths)).toContain(
      '/merchants/v1/users/{id}/notes',
    );
    const port = await freePort();
    const baseUrl = `http://127.0.0.1:${port}`;
    const env = {
      PATH: process.env['PATH'],
      MODE: 'production',
      REQUIRE_HTTPS: 'false',
      ROLES: 'api,worker',
      DATABASE_URL: databaseUrl,
      MASTER_KEY: randomBytes(32).toString('hex'),
      PUBLIC_URL: baseUrl,
      // No node is there: payouts would wait.
      CHAIN_RPC_URL: 'http://127.0.0.1:9',
      USDC_ADDRESS: `0x${'1'.repeat(40)}`,
      PORT: String(port),
      METRICS_PORT: '0',
      LOG_LEVEL: 'silent',
    };
    service = spawn(process.execPath, ['dist/sandbox/main.js'], { cwd: copy, env, stdio: 'inherit' });
    await eventually(() => fetch(`${baseUrl}/health/live`).catch(() => null));
    const program = (...args: string[]): string =>
      execFileSync(process.execPath, ['dist/sandbox/cli.js', ...args], { cwd: copy, env, encoding: 'utf8' });
    const merchant = JSON.parse(program('merchant', '--json', 'create', '--name', 'Notes')) as {
      merchant_id: string;
      private_key: string;
    };
    const client = new SignedClient(baseUrl, {
      apiKey: merchant.merchant_id,
      privateKey: merchant.private_key,
    });
    const created = await client.post('/merchants/v1/users', { phone_number: '+15550001111' });
    const { id } = created.json<{ user: { id: string } }>().user;
    const path = `/merchants/v1/users/${id}/notes`;

    const written = await client.post(path, { text: 'likes tea' });
    expect([written.status, written.json()]).toMatchObject([201, { note: { text: 'likes tea' } }]);
    expect((await client.post(path, {})).status).toBe(422);
    const list = async () => (await client.get(path)).json<{ notes: object[]; is_closed: boolean }>();
    expect(await list()).toEqual({ notes: [written.json<{ note: object }>().note], is_closed: false });

    program('user', 'deactivate', id, '--reason', 'a note is enough');
    await eventually(async () => ((await list()).is_closed ? true : null));
    expect((await client.post(path, { text: 'too late' })).status).toBe(409);
  });

  it('makes a context that reads an event of a version before as the present one', async () => {
    const declaration = (await import(join(copy, 'dist/src/contexts/notes/notes.module.js'))) as {
      notes: Context;
    };
    const registry = new EventRegistry();
    registry.register(eventsOf(declaration.notes));
    const keys = { obtain: async () => null, find: async () => new Map<string, never>() };
    const stored = {
      type: 'note.written.v1',
      data: { note_id: 'n', at: '2026-01-02' },
    } as unknown as RecordedEvent;
    expect(await new EventCodec(registry, keys).decode([stored])).toMatchObject([
      { type: 'note.written.v2', data: { note_id: 'n', written_at: '2026-01-02' } },
    ]);
  });
});
