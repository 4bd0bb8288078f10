import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { canonicalJson, leafHash } from '../../../src/contexts/audit/ledger/event-leaf.js';
import type { Manifest } from '../../../src/contexts/audit/export/manifest.js';
import { MerkleTree } from '../../../src/contexts/audit/ledger/merkle-tree.js';
import { newId } from '../../../src/kernel/ids.js';
import type { NewEvent } from '../../../src/platform/event-store/port.js';
import { PostgresEventStore } from '../../../src/platform/event-store/postgres/postgres-event-store.js';
import { invoke } from '../../support/programs/cli.js';
import { TestProcess } from '../../support/programs/test-process.js';
import { testDatabase } from '../../support/postgres.js';

const CLI = 'dist/cli.js';
const [MERCHANT, OTHER] = [newId(), newId()];

type Line = Record<string, unknown> & { position: string; stream: string; leaf: string };

const db = await testDatabase();
const store = new PostgresEventStore(db.pool);

describe('npm run audit -- export', () => {
  const folders = mkdtempSync(join(tmpdir(), 'disburse-export-'));

  beforeAll(async () => {
    for (let n = 0; n < 8; n += 1) await write(50);
  });
  afterAll(async () => {
    await store.close();
    await db.drop();
    rmSync(folders, { recursive: true });
  });

  const event = (type: string, data: NewEvent['data']): NewEvent => {
    return { id: newId(), type, data, metadata: {} };
  };

  /** Appends streams of two events, alternately of two merchants. Only the first event names its merchant. */
  async function write(streams: number): Promise<void> {
    const appends = Array.from({ length: streams }, (_, n) => {
      const merchant_id = n % 2 === 0 ? MERCHANT : OTHER;
      const events = [
        event('thing.created.v1', { merchant_id, text: `\u2028"é\\ ${n}`, sealed: 'c2VhbGVk' }),
        event('thing.ended.v1', { n, price: 1.5 }),
      ];
      return { stream: `thing-${newId()}`, events, expected: 'no_stream' as const };
    });
    await store.commit({ appends });
  }

  const folder = (name: string): string => join(folders, name);
  const run = (...args: string[]): ReturnType<typeof invoke> =>
    invoke('audit', { DATABASE_URL: db.url }, 'export', ...args);
  const manifestOf = (path: string): Manifest =>
    JSON.parse(readFileSync(join(path, 'manifest.json'), 'utf8')) as Manifest;
  const textOf = (path: string): string =>
    manifestOf(path)
      .parts.map(({ file }) => readFileSync(join(path, file), 'utf8'))
      .join('');
  const linesOf = (path: string): Line[] =>
    textOf(path)
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Line);

  it('contains every event as it is stored, in the order of the log and with its leaf', async () => {
    const out = folder('whole');
    await run('--out', out, '--part-events', '300');
    const rows = await db.database.query<{ position: string; data: string; stream: string }>(
      'select position, data, stream from event_store.events order by position',
    );
    const lines = linesOf(out);
    expect(lines.map(({ position, stream, data }) => ({ position, stream, data }))).toEqual(
      rows.map(({ position, stream, data }) => ({ position, stream, data: JSON.parse(data) as object })),
    );
    const tree = new MerkleTree();
    for (const { leaf, ...rest } of lines) {
      const hash = leafHash(canonicalJson(rest));
      expect(hash.toString('hex')).toBe(leaf);
      tree.append(hash);
    }
    const manifest = manifestOf(out);
    expect(manifest).toMatchObject({
      events: 800,
      merkle_root: tree.root.toString('hex'),
      log_id: await store.identity(),
      first_position: rows[0]!.position,
      last_position: rows.at(-1)!.position,
    });
    expect(manifest.parts.map(({ events }) => events)).toEqual([300, 300, 200]);
    for (const { file, sha256, bytes } of manifest.parts) {
      const content = readFileSync(join(out, file));
      expect(createHash('sha256').update(content).digest('hex')).toBe(sha256);
      expect(content.length).toBe(bytes);
    }
    expect(readdirSync(out).sort()).toEqual([...manifest.parts.map(({ file }) => file), 'manifest.json']);
  });

  it('contains only events of --merchant, even events whose data does not name the merchant', async () => {
    const out = folder('merchant');
    await run('--out', out, '--merchant', MERCHANT.toUpperCase());
    const lines = linesOf(out);
    const whole = linesOf(folder('whole'));
    const streams = new Set(
      whole
        .filter(({ data }) => (data as { merchant_id?: string }).merchant_id === MERCHANT)
        .map((line) => line.stream),
    );
    expect(lines).toEqual(whole.filter(({ stream }) => streams.has(stream)));
    expect(lines).toHaveLength(400);
    expect(manifestOf(out).merkle_root).toBeNull();
  });

  it('contains only the events between --from and --to, which are positions or times', async () => {
    const whole = linesOf(folder('whole'));
    const [after, upTo] = [whole[99]!, whole[499]!];
    await run('--out', folder('range'), '--from', after.position, '--to', upTo.position);
    expect(linesOf(folder('range'))).toEqual(whole.slice(100, 500));
    const [from, to] = [whole[100]!['recorded_at'] as string, whole[700]!['recorded_at'] as string];
    await run('--out', folder('times'), '--from', from, '--to', to);
    expect(linesOf(folder('times'))).toEqual(
      whole.filter(({ recorded_at }) => (recorded_at as string) >= from && (recorded_at as string) < to),
    );
  });

  const start = (args: readonly string[] = []): TestProcess =>
    new TestProcess(process.execPath, [CLI, 'audit', 'export', ...args], {
      env: { ...process.env, DATABASE_URL: db.url },
    });

  it('writes to standard output if --out is missing', async () => {
    const program = start();
    expect([await program.ended, program.output === textOf(folder('whole'))]).toEqual([0, true]);
  });

  it('prints an error and exits with 1 if standard output is closed', async () => {
    const program = start();
    program.child.stdout!.once('data', () => program.child.stdout!.destroy());
    expect([await program.ended, program.errors]).toEqual([1, 'write EPIPE\n']);
  });

  it('does not change a complete export, and refuses the folder of a different export', async () => {
    const out = folder('whole');
    const before = readFileSync(join(out, 'manifest.json'), 'utf8');
    await write(1);
    expect((await run('--out', out, '--part-events', '300')).printed).toContain('nothing was left to do');
    expect(readFileSync(join(out, 'manifest.json'), 'utf8')).toBe(before);
    await expect(run('--out', out)).rejects.toThrow('holds an export of something else');
    await expect(run('--out', join(out, 'manifest.json'))).rejects.toThrow('EEXIST: file already exists');
  });

  it('refuses invalid arguments', async () => {
    const refusals: [string[], string][] = [
      [['--from', 'yesterday'], '--from must be a position of the log'],
      [['--to', '2026-02-30'], '--to must be a position'],
      [['--merchant', 'acme'], 'Merchant not found'],
      [['--part-events', '0'], '--part-events must be a number'],
    ];
    for (const [args, message] of refusals)
      await expect(run('--out', folder('none'), ...args)).rejects.toThrow(message);
    expect(existsSync(folder('none'))).toBe(false);
  });

  it('continues after it was killed and then equals an uninterrupted export', async () => {
    const out = folder('killed');
    const args = ['--out', out, '--part-events', '20'];
    // Repeats if the export was faster than the kill.
    do {
      rmSync(out, { recursive: true, force: true });
      const program = start(args);
      while (program.child.exitCode === null && !existsSync(join(out, 'events-000002.ndjson')))
        await setImmediate();
      await program.end('SIGKILL');
    } while (existsSync(join(out, 'manifest.json')));
    // The leftovers of a run that was killed in the middle of a part, and a part without a manifest entry.
    writeFileSync(join(out, '.events-000003.ndjson.999999'), '{"data":');
    writeFileSync(join(out, 'events-000030.ndjson'), '{"data":');
    await write(5);
    await run(...args);
    await run('--out', folder('not-killed'), '--part-events', '20', '--to', manifestOf(out).log_end!);
    const { events, first_position, last_position, parts, merkle_root } = manifestOf(out);
    expect(manifestOf(folder('not-killed'))).toMatchObject({ events, first_position, last_position, parts });
    const tree = new MerkleTree();
    for (const { leaf } of linesOf(out)) tree.append(Buffer.from(leaf, 'hex'));
    expect(merkle_root).toBe(tree.root.toString('hex'));
    expect(textOf(out)).toBe(textOf(folder('not-killed')));
    expect(readdirSync(out).sort()).toEqual([...parts.map(({ file }) => file), 'manifest.json']);
  });
});
