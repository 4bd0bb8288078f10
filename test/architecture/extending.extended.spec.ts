import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import ts from 'typescript';
import { freePort } from '../../sandbox/processes.js';
import { listEvents, type Context } from '../../src/platform/context.js';
import { EventCodec } from '../../src/platform/event-store/event-codec.js';
import type { RecordedEvent } from '../../src/platform/event-store/port.js';
import type { PersonalKey } from '../../src/platform/sealing/personal-keys.js';
import { dumpOf, tracesOf } from '../support/erasure/traces.js';
import { eventually } from '../support/eventually.js';
import { onTestDatabase } from '../support/postgres.js';
import { asShell } from '../support/programs/disburse.js';
import { specFolder } from '../support/run-folder.js';
import { SignedClient } from '../support/http/signed-client.js';
import { sources, type Source } from './ratchet/sources.js';
import { ownership, privateExports, sharedNames, sizes } from './ratchet/structure.js';
import { countWords } from './ratchet/words.js';

const ROOT = resolve('.');
const COPIED = [
  ...['src', 'sandbox', 'scripts', 'package.json', '.swcrc', 'nest-cli.json', '.dependency-cruiser.mjs'],
  ...['tsconfig.json', 'tsconfig.build.json', 'jest.config.mjs', 'test/support', 'docs/events.md'],
];
/** A build, a boot and four programs, next to other suites. */
const BUILD_AND_BOOT_MS = 300_000;
/** A file of the document: its path, whether the text is appended to an existing file, and the text. */
const BLOCK = /^`((?:src|test|docs)\/[^`]+)`(, one more (?:line|section))?\n\n```(?:ts|md)\n(.*?)```$/gms;
/** The lines of ceilings.json that the document adds, and the sentence with the totals. */
const CEILINGS =
  /^`test\/architecture\/ceilings\.json`[^\n]*\n\n```json\n(.*?)```\n\nThe totals rise too: (.*?)\. /ms;

function typeErrors(folder: string, files: readonly string[]): string[] {
  const { config } = ts.readConfigFile(join(folder, 'tsconfig.build.json'), (name) => ts.sys.readFile(name));
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, folder);
  const program = ts.createProgram(files, { ...options, noEmit: true, incremental: false });
  return files
    .flatMap((file) => ts.getPreEmitDiagnostics(program, program.getSourceFile(file)))
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '));
}

/** Follows docs/extending.md literally on a copy of the tree. */
describe('docs/extending.md', () => {
  const db = onTestDatabase({ poolSize: 1 });
  let copy = '';
  let document = '';
  const written: string[] = [];
  let service: ChildProcess | null = null;
  const tool = (file: string, ...args: string[]): string =>
    execFileSync(process.execPath, [join('node_modules', file), ...args], {
      cwd: copy,
      encoding: 'utf8',
      maxBuffer: 1 << 26,
    });

  beforeAll(() => {
    copy = specFolder('extending');
    for (const name of COPIED) cpSync(join(ROOT, name), join(copy, name), { recursive: true });
    for (const folder of ['node_modules', 'widgets', 'packages']) mkdirSync(join(copy, folder));
    // The caches in node_modules are not copied.
    for (const name of readdirSync(join(ROOT, 'node_modules')).filter((each) => !each.startsWith('.')))
      symlinkSync(join(ROOT, 'node_modules', name), join(copy, 'node_modules', name));
    document = readFileSync(join(ROOT, 'docs', 'extending.md'), 'utf8');
    for (const [, path, more, text] of document.matchAll(BLOCK)) {
      const file = join(copy, path!);
      mkdirSync(dirname(file), { recursive: true });
      if (more === undefined) writeFileSync(file, text!);
      else appendFileSync(file, text!);
      written.push(path!);
    }
  });

  afterAll(() => void service?.kill('SIGKILL'));

  it('adds a context with one changed line outside the folder of the new context', () => {
    const numbers = ['--no-pager', 'diff', '--no-index', '--numstat', join(ROOT, 'src'), join(copy, 'src')];
    const { stdout } = spawnSync('git', numbers, { encoding: 'utf8' });
    const changed = stdout.trimEnd().split('\n');
    const inside = changed.filter((line) => line.includes('/contexts/notes/'));
    expect(inside.length).toBeGreaterThan(8);
    expect(changed.filter((line) => !inside.includes(line))).toEqual([
      expect.stringMatching(/^1\t0\t.*contexts\/index\.ts/),
    ]);
  });

  it.each([
    ['A kind of key', 5],
    ['A field of a credential', 6],
  ])('names for the change "%s" at most %i files to edit, and each file exists', (change, most) => {
    const [row = ''] = document.split('\n').filter((line) => line.startsWith(`| ${change} |`));
    const files = new Set([...row.matchAll(/`(src\/[^`]+)`/g)].map(([, path]) => path!));
    expect(files.size).toBeGreaterThan(2);
    expect(files.size).toBeLessThanOrEqual(most);
    for (const path of files) expect(existsSync(join(ROOT, path))).toBe(true);
  });

  it('names exactly the ceilings of the ratchet that the new context raises', () => {
    const before = sources(null);
    const after: Source[] = [
      ...before.filter(({ path }) => !written.includes(path)),
      ...written.map((path) => ({ path, text: readFileSync(join(copy, path), 'utf8') })),
    ];
    const [old, now] = [sizes(before), sizes(after)];
    const rising = Object.entries(now).filter(([figure, count]) => count > (old[figure] ?? 0));
    const [, rows, totals] = CEILINGS.exec(document)!;
    const entries = Object.entries(JSON.parse(rows!) as Record<string, number>);
    const isNew = (figure: string): boolean => figure.endsWith('src/contexts/notes');
    expect(entries).toEqual(rising.filter(([figure]) => isNew(figure)));
    const named = [...totals!.matchAll(/`([^`]+)`/g)].map(([, figure]) => figure!);
    expect(named.sort()).toEqual(
      rising
        .map(([figure]) => figure)
        .filter((figure) => !isNew(figure))
        .sort(),
    );

    expect(ownership(after)).toEqual(ownership(before));
    expect([...sharedNames(after).keys()]).toEqual([...sharedNames(before).keys()]);
    const added = after.filter(({ path }) => written.includes(path) && path !== 'docs/events.md');
    expect(privateExports(added)).toEqual([]);
    const words = Object.entries(countWords(added.flatMap(({ path, text }) => [path, text])));
    expect(words.filter(([, count]) => count > 0)).toEqual([]);
  });

  it('documents every event of the new context', async () => {
    const text = readFileSync(join(copy, 'docs', 'events.md'), 'utf8');
    const { NOTES_EVENTS } = (await import(join(copy, 'src/contexts/notes/notes/notes.ts'))) as {
      NOTES_EVENTS: readonly string[];
    };
    const { NOTES_UPCASTS } = (await import(join(copy, 'src/contexts/notes/upcasts.ts'))) as {
      NOTES_UPCASTS: object;
    };
    const documented = [...text.matchAll(/^\| `(notes?\.[^`]+)` \|/gm)].map(([, type]) => type!);
    expect(documented.sort()).toEqual([...NOTES_EVENTS, ...Object.keys(NOTES_UPCASTS)].sort());
  });

  it('describes code that passes the type check and the dependency rules', () => {
    const code = written.filter((path) => path.endsWith('.ts')).map((path) => join(copy, path));
    expect(typeErrors(copy, code)).toEqual([]);
    const rules = "import base from './.dependency-cruiser.mjs';\n";
    // The copied rules resolve packages by their links.
    const linked = 'export default { ...base, options: { ...base.options, preserveSymlinks: true } };\n';
    writeFileSync(join(copy, 'rules.mjs'), rules + linked);
    tool('dependency-cruiser/bin/dependency-cruise.mjs', 'src/contexts', '--config', 'rules.mjs');
  });

  it(
    'describes a service that migrates, boots and responds as documented',
    async () => {
      tool('@nestjs/cli/bin/nest.js', 'build');
      execFileSync(process.execPath, ['scripts/openapi.mjs'], { cwd: copy });
      cpSync(join(ROOT, 'dist', 'widgets'), join(copy, 'dist', 'widgets'), { recursive: true });
      const document = readFileSync(join(copy, 'dist', 'openapi', 'production.json'), 'utf8');
      expect(Object.keys((JSON.parse(document) as { paths: object }).paths)).toContain(
        '/merchants/v1/users/{id}/notes',
      );
      const port = await freePort();
      const baseUrl = `http://127.0.0.1:${port}`;
      const dataDir = specFolder('data');
      const env = {
        PATH: process.env['PATH'],
        // An erasure in production would wait for a second person.
        MODE: 'sandbox',
        OPERATIONS_APPROVALS: 'off',
        REQUIRE_HTTPS: 'false',
        ROLES: 'api,worker,admin',
        DATA_DIR: dataDir,
        ADMIN_PORT: '0',
        DATABASE_URL: db.url,
        MASTER_KEY: randomBytes(32).toString('hex'),
        PUBLIC_URL: baseUrl,
        // Payouts would wait without the URL of a node.
        CHAIN_RPC_URL: 'http://127.0.0.1:9',
        USDC_ADDRESS: `0x${'1'.repeat(40)}`,
        PORT: String(port),
        METRICS_PORT: '0',
        LOG_LEVEL: 'silent',
      };
      service = spawn(process.execPath, ['dist/sandbox/main.js'], { cwd: copy, env, stdio: 'inherit' });
      await eventually(() => fetch(`${baseUrl}/health/live`).catch(() => null));
      await eventually(async () => existsSync(join(dataDir, 'admin.sock')));
      const admin = <T>(...args: string[]): Promise<T> =>
        asShell<T>(dataDir, ...args, '--name', 'Notes', '--reason', 'the guide');
      const { merchant } = await admin<{ merchant: { id: string } }>('merchants', 'create');
      const key = ['credentials', 'create', '--kind', 'payouts', '--merchant-id', merchant.id];
      const { credential } = await admin<{ credential: { secret: string } }>(...key);
      const client = new SignedClient(baseUrl, { apiKey: merchant.id, privateKey: credential.secret });
      const stored = async () =>
        db.database.query(
          `select from event_store.responses where body like 'sealed:%' and scope <> 'shell'`,
        );
      const created = await client.post('/merchants/v1/users', { phone_number: '+15550001111' });
      const { id } = created.json<{ user: { id: string } }>().user;
      const path = `/merchants/v1/users/${id}/notes`;
      const said = { text: 'likes tea in the morning' };

      const written = await client.post(path, said, randomUUID());
      expect([written.status, written.json()]).toMatchObject([201, { note: said }]);
      expect((await client.post(path, {})).status).toBe(422);
      const list = async () => (await client.get(path)).json<{ notes: object[]; is_closed: boolean }>();
      expect(await list()).toEqual({ notes: [written.json<{ note: object }>().note], is_closed: false });
      expect(tracesOf(await dumpOf(db.database), said)).toEqual([]);

      await asShell(dataDir, 'users', 'deactivate', id, '--reason', 'a note is enough');
      await eventually(async () => ((await list()).is_closed ? true : null));
      expect((await client.post(path, { text: 'too late' })).status).toBe(409);

      const sealed = async () =>
        db.database.query(
          `select from platform.personal_keys where subject = $1 and wrapped_key is not null`,
          [id],
        );
      expect([(await sealed()).length, (await stored()).length]).toEqual([1, 1]);
      const state = async () =>
        (await client.get(`/merchants/v1/users/${id}`)).json<{ user: { account_state: string } }>().user;
      await eventually(async () => ((await state()).account_state === 'deactivated' ? true : null));
      await asShell(dataDir, 'users', 'erase', id, '--reason', 'request of the person');
      await eventually(async () => ((await stored()).length === 0 ? true : null));
      expect([(await sealed()).length, (await client.get(path)).status]).toEqual([0, 404]);
    },
    BUILD_AND_BOOT_MS,
  );

  it('contains tests of the new context, which pass', () => {
    const { DISBURSE_TEST_RUN: _run, DISBURSE_TEST_SUITE: _suite, ...env } = process.env;
    const jest = ['node_modules/jest/bin/jest.js', '-i', 'notes', '--reporters=default'];
    const { status, stderr } = spawnSync(process.execPath, jest, { cwd: copy, env, encoding: 'utf8' });
    expect([status, stderr]).toEqual([0, expect.stringMatching(/^Tests: +4 passed, 4 total$/m)]);
  });

  it('describes a context that upgrades an event of an earlier version when the event is read', async () => {
    const declaration = (await import(join(copy, 'dist/src/contexts/notes/notes.module.js'))) as {
      notes: Context;
    };
    const opens: string[] = [];
    const key = {
      open: (text: string, place: string) => {
        opens.push(`${text} at ${place}`);
        return '"likes tea"';
      },
    } as PersonalKey;
    const known = new Map([['u', key]]);
    const stored = {
      stream: 'notes-u',
      type: 'note.written.v1',
      data: { note_id: 'n', user_id: 'u', text: 's1', at: '2026-01-02' },
    } as unknown as RecordedEvent;
    const read = async (keys: ReadonlyMap<string, PersonalKey>) =>
      new EventCodec({ obtain: async () => null, find: async () => keys })
        .register(listEvents(declaration.notes))
        .decode([stored]);
    const data = { note_id: 'n', user_id: 'u', written_at: '2026-01-02' };
    expect(await read(known)).toMatchObject([
      { type: 'note.written.v2', data: { ...data, text: 'likes tea' } },
    ]);
    expect(opens).toEqual(['s1 at event/notes-u/note.written.v1/text']);
    expect(await read(new Map())).toMatchObject([{ data: { ...data, text: null } }]);
  });
});
