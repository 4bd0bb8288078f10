import { cpSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { fileURLToPath } from 'node:url';
import { canonicalJson, leafHash } from '../../../src/contexts/audit/ledger/event-leaf.js';
import type { Manifest } from '../../../src/contexts/audit/export/manifest.js';
import { MerkleTree } from '../../../src/contexts/audit/ledger/merkle-tree.js';
import { sha256 } from '../../../src/kernel/sha256.js';
import { testApp, onTestApp, type TestApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { getPayout, PAYOUTS, reported, receivedPayout } from '../../support/payouts/payout-calls.js';
import { specFolder } from '../../support/run-folder.js';
import { bash, commandsOf } from '../../support/programs/guide.js';
import { TestProcess } from '../../support/programs/test-process.js';
import { systemProgram } from '../../support/programs/system-program.js';

const CLI = resolve('dist/cli.js');
const NO_KEY = { MASTER_KEY: '' };
const FORGED = 'was not written by the service';

type Line = { leaf?: string; readonly data: Record<string, unknown> };

const app = await testApp({ AUDIT_HEAD_SECONDS: '1' });
const folder = specFolder('auditing');
const {
  user,
  payout: { id: payout },
} = await receivedPayout(app, '2');
const settledAt = new Date().toISOString();
await eventually(async () => (await app.merchant.get(`${PAYOUTS}/${payout}/proof`)).status === 200);

/** The settings of an auditor in the guide. */
const settingsOf = ({ config }: TestApp) => ({
  DATABASE_URL: config.databaseUrl!,
  MASTER_KEY: config.masterKey!,
  CHAIN_RPC_URL: config.chainRpcUrl!,
  USDC_ADDRESS: config.usdcAddress!,
});

describe('the programs of docs/auditing.md', () => {
  const ran = new Set<string>();

  /** Runs the built program like npm. */
  async function run(
    line: string,
    settings: Readonly<Record<string, string>> = {},
  ): Promise<{ code: number | null; text: string }> {
    const [program, name] = line.replace('--json ', '').split(' ');
    ran.add(`${program} ${name}`);
    const env = { PATH: process.env['PATH'], OPERATIONS_APPROVALS: 'off', ...settingsOf(app), ...settings };
    const started = new TestProcess(process.execPath, [CLI, ...line.split(' ')], { cwd: folder, env });
    return { code: await started.ended, text: started.text };
  }

  /** Runs the lines in order. The first unexpected exit code fails with the output. */
  async function expectCodes(
    lines: readonly (readonly [line: string, code: number, settings?: Readonly<Record<string, string>>])[],
  ): Promise<void> {
    for (const [line, code, settings] of lines) {
      const found = await run(line, settings);
      expect({ line, ...found }).toEqual({ line, code, text: found.text });
      expect(found.text).not.toContain(FORGED);
    }
  }

  async function keep(name: string, line: string): Promise<void> {
    writeFileSync(join(folder, name), (await run(line)).text);
  }

  const commands = () =>
    [
      ['audit verify', 0],
      ['audit verify', 1, NO_KEY],
      ['audit verify --head heads.ndjson --key key.pem', 0],
      ['audit verify --from rest', 0],
      ['audit verify --from rest --head heads.ndjson --key key.pem', 0],
      ['audit verify --from rest --offline', 1],
      ['audit verify --from rest --offline --key key.pem', 0],
      ['audit verify --from rest --offline --key key.pem', 0, NO_KEY],
      ['audit verify --from rest/events-000001.ndjson --offline', 1],
      ['audit heads --since 1', 0],
      ['audit proof --from first.ndjson', 0],
      [`audit balance --user ${user}`, 0],
      [`audit balance --user ${user} --at ${settledAt} --json`, 0],
      [`audit explain payout ${payout}`, 0],
      [`audit explain user ${user}`, 0],
      [`audit recheck --rpc ${app.config.chainRpcUrl!}`, 0],
      ['exchange recheck', 0],
    ] as const;

  it('report an idle log and its export as in order', async () => {
    await keep('heads.ndjson', 'audit heads');
    await keep('key.pem', 'audit key');
    writeFileSync(
      join(folder, 'first.ndjson'),
      readFileSync(join(folder, 'heads.ndjson'), 'utf8').split('\n')[0]!,
    );
    await expectCodes([['audit export --out rest --part-events 20', 0], ...commands()]);
  });

  it('find forgeries in an export only with the master key', async () => {
    await forge();
    expect((await run('audit verify --from forged --offline', NO_KEY)).text).not.toContain(FORGED);
    const offline = await run('audit verify --from forged --offline');
    expect([offline.code, offline.text]).toEqual([2, expect.stringContaining(FORGED)]);
    await getPayout(app.merchant, (await reported(app.merchant, user)).id);
    const connected = await run('audit verify --from forged');
    expect([connected.code, connected.text]).toEqual([2, expect.stringContaining(FORGED)]);
    const other = { MASTER_KEY: 'ab'.repeat(32) };
    const unchecked = await run('audit verify --from rest --offline --key key.pem', other);
    expect(unchecked.code).toBe(1);
    expect(unchecked.text).toContain('UNCHECKED whether the service wrote each event: no key');
  });

  it('export into files that only their owner can read', () => {
    const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);
    const names = readdirSync(join(folder, 'rest'));
    expect(names).toContain('manifest.json');
    expect(names.map((name) => modeOf(join(folder, 'rest', name)))).toEqual(names.map(() => '600'));
    expect(modeOf(join(folder, 'rest'))).toBe('700');
  });

  it('exit with 0 when they rebuild, rotate the key, verify and begin a new ledger', async () => {
    await expectCodes([
      ['rebuild --reason auditing', 0],
      ['audit key rotate --reason auditing', 0],
      ['audit verify', 0],
    ]);
    await app.stop();
    await expectCodes([['audit begin --reason auditing', 0]]);
  });

  it('are all run by these tests', () => {
    const guide = readFileSync('docs/auditing.md', 'utf8');
    const named = [...guide.matchAll(/npm run (?:-s )?(audit|exchange|rebuild) -- (?:--json )?([a-z]+)?/g)];
    const found = new Set([...ran].map((each) => each.replace(/ -.*/, ' ')));
    for (const [, program, name = ''] of named) expect(found).toContain(`${program} ${name}`);
  });

  /** Copies the export with another amount and recomputed hashes and manifest. */
  async function forge(): Promise<void> {
    cpSync(join(folder, 'rest'), join(folder, 'forged'), { recursive: true });
    const manifest = JSON.parse(readFileSync(join(folder, 'rest', 'manifest.json'), 'utf8')) as Manifest;
    const tree = new MerkleTree();
    const parts = manifest.parts.map((part) => {
      const file = join(folder, 'forged', part.file);
      const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
      const text = lines
        .map((line) => {
          const event = JSON.parse(line) as Line;
          delete event.leaf;
          if (event.data['amount'] === '2') event.data['amount'] = '3';
          const leaf = leafHash(canonicalJson(event));
          tree.append(leaf);
          return `${JSON.stringify(event).slice(0, -1)},"leaf":"${leaf.toString('hex')}"}\n`;
        })
        .join('');
      writeFileSync(file, text);
      return { ...part, bytes: Buffer.byteLength(text), sha256: sha256(Buffer.from(text)).toString('hex') };
    });
    const merkle_root = tree.root.toString('hex');
    writeFileSync(
      join(folder, 'forged', 'manifest.json'),
      JSON.stringify({ ...manifest, signed_head: null, parts, merkle_root }),
    );
  }
});

const SCRIPT = fileURLToPath(new URL('../../../scripts/cli.mjs', import.meta.url));
const missing = ['bash', 'curl', 'grep'].filter((each) => systemProgram(each) === null);

(missing.length > 0 ? describe.skip : describe)('the commands of docs/auditing.md', () => {
  const app = onTestApp();

  it('trace a balance to its transfer on the chain when they are pasted into a shell in order', async () => {
    const { user, payout } = await receivedPayout(app, '12.50');
    const settings = { USER_ID: user, PAYOUT_ID: payout.id, ...settingsOf(app) };
    const prelude = [
      ...Object.entries(settings).map(([name, value]) => `export ${name}='${value}'`),
      // The guide runs `npm run -s NAME -- ...` in the folder of the clone, which runs this program.
      `npm() { local name=$3; shift 4; node '${SCRIPT}' "$name" "$@"; }`,
    ];
    const script = [...prelude, commandsOf('auditing.md')].join('\n');
    const { output, errors, code } = await bash(script, specFolder('auditing'));
    expect([code, errors]).toEqual([0, '']);
    expect(output).toMatch(/^confirmed +12\.5$/m);
    expect(output).toMatch(/^causes, from the last event back: \d+ ← \d+$/m);
    expect(output).toMatch(/^"hash":"0x[0-9a-f]{64}"$/m);
    expect(output).toContain('the node says the same: 12500000 to 0x');
    expect(output).toContain('1 payouts checked');
  });
});
