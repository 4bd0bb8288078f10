import { randomBytes } from 'node:crypto';
import {
  appendFileSync,
  cpSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { signer } from '../../../../test/support/audit/signed-log.js';
import { invoke, type Run } from '../../../../test/support/programs/cli.js';
import { testDatabase, type TestDatabase } from '../../../../test/support/postgres.js';
import { specFolder } from '../../../../test/support/run-folder.js';
import { systemClock } from '../../../kernel/clock.js';
import { newId } from '../../../kernel/ids.js';
import { PostgresEventStore } from '../../../platform/event-store/postgres/postgres-event-store.js';
import { Sealer } from '../../../platform/sealing/sealer.js';
import { hashOfEvent, leafHash } from '../ledger/event-leaf.js';
import type { Manifest } from '../export/manifest.js';
import { MerkleTree } from '../ledger/merkle-tree.js';
import { headText, type SignedHead } from '../ledger/signed-head.js';
import { Heads, SigningKeys } from '../ledger/heads.store.js';
import { extendLedger, Ledger } from '../ledger/ledger.store.js';
import type { LedgerReport } from './check-ledger.service.js';
import { HealthRegistry } from '../../../platform/telemetry/health.js';
import { LedgerAnchor } from '../ledger/ledger-follower.saga.js';
import { HeadSignerProcessor } from '../ledger/head-signer.processor.js';
import { LedgerKeys, toPem } from '../ledger/ledger-keys.commands.js';
import { auditConfig } from '../audit.config.js';

interface Report extends Run {
  readonly ledger: LedgerReport | null;
  readonly faults: readonly string[];
  readonly not_checked: readonly string[];
  readonly keys_pinned: boolean;
}

type Writable = { -readonly [member in keyof Manifest]: Manifest[member] };

/** Two heads of two keys, over 12 and over all 22 events. */
describe('the signed head of an export', () => {
  let db: TestDatabase;
  let store: PostgresEventStore;
  const sealer = new Sealer(randomBytes(32));
  const atEnd = { last: async () => null };
  const anchor = new LedgerAnchor(new HealthRegistry(), atEnd, { readAll: async () => [] });
  const folder = specFolder('exported-ledger');
  const [whole, copy, pem] = [join(folder, 'whole'), join(folder, 'copy'), join(folder, 'key.pem')];

  beforeAll(async () => {
    db = await testDatabase();
    store = new PostgresEventStore(db.pool);
    const keys = new LedgerKeys(new SigningKeys(db.database), sealer, systemClock);
    const logId = await store.identity();
    await keys.begin();
    await new Heads(db.database).begin(sealer, logId, { emptied: false });
    await write(12);
    await signHead(keys);
    writeFileSync(pem, toPem((await new SigningKeys(db.database).all())[0]!));
    await keys.execute();
    await write(10);
    await signHead(keys);
    await invoke('audit', env(), 'export', '--out', whole, '--part-events', '10');
  });
  beforeEach(() => {
    rmSync(copy, { recursive: true, force: true });
    cpSync(whole, copy, { recursive: true });
  });
  afterAll(async () => {
    await store.close();
    await db.drop();
  });

  const env = (): NodeJS.ProcessEnv => ({ DATABASE_URL: db.url });

  async function write(events: number): Promise<void> {
    for (let n = 0; n < events; n += 1) {
      const event = { id: newId(), type: 'claim.taken.v1', data: { owner: `thing-${n}` }, metadata: {} };
      await store.commit({
        appends: [{ stream: `thing-${newId()}`, events: [event], expected: 'no_stream' }],
      });
    }
  }

  async function signHead(keys: LedgerKeys): Promise<void> {
    const events = await store.readAll(null, 100);
    const leaves = events.map((event) => ({ position: event.position, hash: hashOfEvent(event) }));
    const logId = await store.identity();
    await db.database.transaction((tx) => extendLedger(tx, sealer, { logId }, leaves));
    const [ledger, heads] = [new Ledger(db.database), new Heads(db.database)];
    await new HeadSignerProcessor(ledger, heads, keys, anchor, sealer, systemClock, auditConfig({})).sign();
  }

  const manifestAt = (path: string): Manifest =>
    JSON.parse(readFileSync(join(path, 'manifest.json'), 'utf8')) as Manifest;
  const rewrite = (manifest: unknown): void =>
    writeFileSync(join(copy, 'manifest.json'), JSON.stringify(manifest));
  /** Rewrites the manifest with the changes of `tamper`. */
  const changed = (tamper: (manifest: Writable, head: SignedHead) => void): void => {
    const manifest: Writable = { ...manifestAt(whole) };
    tamper(manifest, manifest.signed_head!);
    rewrite(manifest);
  };
  const offline = async (...args: string[]): Promise<Report> => {
    const run = await invoke('audit', {}, '--json', 'verify', '--from', copy, '--offline', ...args);
    return { ...(JSON.parse(run.printed) as Report), ...run };
  };
  /** Rewrites the manifest with a key that the service did not create, and the signature of that key. */
  const signAsForger = (): void =>
    changed((manifest, head) => {
      const key = signer(null);
      const named = { ...head, key_id: key.key_id };
      const signed_head = { ...named, signature: key.sign(headText(named)) };
      Object.assign(manifest, { signed_head, signing_keys: [key] });
    });

  it('is in the manifest, together with the public keys of the ledger', async () => {
    const { signed_head, signing_keys } = manifestAt(whole);
    expect(signed_head).toEqual(await new Heads(db.database).newest());
    expect(signed_head!.size).toBe(22);
    const { printed } = await invoke('audit', env(), '--json', 'key');
    expect(signing_keys).toEqual(JSON.parse(printed));
    expect(signing_keys).toHaveLength(2);
  });

  it('is verified, and verify reports whether its keys are pinned', async () => {
    const inOrder = { faults: [], ledger: { findings: [], proven: { size: 22 }, unsigned: 0 } };
    const pinned = { ...inOrder, keys_pinned: true, not_checked: [], exitCode: null };
    expect(await offline('--key', pem)).toMatchObject(pinned);
    expect(await offline()).toMatchObject({ ...inOrder, keys_pinned: false, exitCode: 1 });
    const printed = (...args: string[]): Promise<Run> =>
      invoke('audit', {}, 'verify', '--from', copy, '--offline', ...args);
    expect((await printed()).printed).toContain('UNCHECKED the keys of the ledger are not pinned');
    expect((await printed('--key', pem)).printed).not.toContain('not pinned');
  });

  it('makes verify exit with code 2 if the head was changed, even without another fault', async () => {
    changed((manifest, head) => (manifest.signed_head = { ...head, position: '7' }));
    const { printed, exitCode } = await invoke('audit', {}, 'verify', '--from', copy, '--offline');
    expect(printed).toContain('NOT in order: 1 findings of the ledger, 0 broken rules, 0 differences');
    expect(printed).not.toMatch(/^in order/m);
    expect(exitCode).toBe(2);
  });

  it('is refused if its size was changed to more events than the export has', async () => {
    changed((manifest, head) => (manifest.signed_head = { ...head, size: 99 }));
    const { ledger, faults } = await offline();
    expect(ledger!.findings).toEqual([{ kind: 'head', size: 99, why: 'its signature is wrong' }]);
    expect(faults).toEqual([]);
  });

  it('reveals that the end of the log was cut off, even if the manifest was rewritten', async () => {
    changed((manifest) => {
      manifest.parts = manifest.parts.slice(0, 2);
      const tree = new MerkleTree();
      for (const { file } of manifest.parts)
        for (const line of readFileSync(join(whole, file), 'utf8').trimEnd().split('\n'))
          tree.append(Buffer.from((JSON.parse(line) as { leaf: string }).leaf, 'hex'));
      Object.assign(manifest, { events: 20, merkle_root: tree.root.toString('hex') });
    });
    rmSync(join(copy, 'events-000003.ndjson'));
    const { ledger } = await offline('--key', pem);
    expect(ledger!.findings).toEqual([expect.objectContaining({ kind: 'truncated', events: 20, size: 22 })]);
    expect(ledger!.proven).toBeNull();
  });

  it('is refused if it was signed with a forged key and the auditor retained the first key', async () => {
    signAsForger();
    const { ledger } = await offline('--key', pem);
    expect(ledger!.findings.map(({ kind }) => kind)).toEqual(['key', 'head']);
    expect(ledger!.proven).toBeNull();
  });

  it.each<[string, (manifest: Writable) => void, string[], string]>([
    [
      'names no head, although the auditor has a key',
      (manifest) => (manifest.signed_head = null),
      ['--key', pem],
      'the signature of the head: manifest.json names none',
    ],
    [
      'covers only a part of the log',
      (manifest) => (manifest.scope = { ...manifest.scope, merchant: newId() }),
      ['--key', pem],
      'the signature of the head: no head is of a part of the log',
    ],
  ])('is reported as unchecked if the manifest %s', async (_name, tamper, args, why) => {
    changed(tamper);
    const { faults, ledger, not_checked } = await offline(...args);
    expect({ faults, ledger }).toEqual({ faults: [], ledger: null });
    expect(not_checked).toContain(why);
    expect(not_checked).toContainEqual(expect.stringContaining('no signed head covers any event'));
  });

  const part = (n: number): string => join(copy, `events-00000${n}.ndjson`);
  const flip = (at: (bytes: Buffer) => number): void => {
    const bytes = readFileSync(part(2));
    bytes[at(bytes)]! ^= 1;
    writeFileSync(part(2), bytes);
  };
  const swap = (): void => {
    renameSync(part(1), part(9));
    renameSync(part(2), part(1));
    renameSync(part(9), part(2));
  };

  it.each<[string, () => void, RegExp]>([
    ['a flipped byte', () => flip(() => 150), /events-000002.ndjson, line 1: does not have its leaf hash/],
    [
      'a flipped byte in a leaf hash',
      () => flip((bytes) => bytes.indexOf('\n') - 5),
      /events-000002.ndjson, line 1/,
    ],
    ['a missing part', () => rmSync(part(3)), /events-000003.ndjson is missing/],
    [
      'a cut line',
      () => truncateSync(part(1), readFileSync(part(1)).length - 20),
      /events-000001.ndjson, line 10: is cut/,
    ],
    ['swapped parts', swap, /events-000001.ndjson has the sha256 [0-9a-f]{64}, and manifest.json says/],
    [
      'a repeated line',
      () => appendFileSync(part(1), `${readFileSync(part(1), 'utf8').split('\n')[0]!}\n`),
      /events-000001.ndjson has the events 11, and manifest.json says 10/,
    ],
    [
      'a manifest that lists too few parts',
      () => changed((manifest) => (manifest.parts = manifest.parts.slice(0, -1))),
      /is no part that manifest.json names/,
    ],
  ])('is verified along with the parts of the export, which reveals %s', async (_name, tamper, fault) => {
    tamper();
    const { exitCode, faults } = await offline();
    expect([exitCode, faults.join('\n')]).toEqual([2, expect.stringMatching(fault)]);
  });

  it('is optional for a part of the log, but the folder, its manifest and --from are required', async () => {
    rmSync(copy, { recursive: true });
    await expect(offline()).rejects.toThrow('ENOENT: no such file or directory');
    await invoke('audit', env(), 'export', '--out', copy, '--from', '10');
    expect(await offline()).toMatchObject({ exitCode: 1, faults: [] });
    rmSync(join(copy, 'manifest.json'));
    await expect(offline()).rejects.toThrow('has no manifest.json');
    await expect(invoke('audit', {}, 'verify', '--offline')).rejects.toThrow(
      '--offline reads an export: name it with --from',
    );
  });

  it('is not checked if the manifest is invalid, and verify fails with a message', async () => {
    rewrite({ ...manifestAt(whole), format: 7 });
    await expect(offline()).rejects.toThrow(
      'manifest.json is not a manifest of the format disburse-export.v2',
    );
  });

  it('is compared with the ledger of the database if verify has a database', async () => {
    signAsForger();
    const { printed } = await invoke('audit', env(), '--json', 'verify', '--from', copy);
    const { ledger } = JSON.parse(printed) as Report;
    expect(ledger!.findings).toEqual([expect.objectContaining({ kind: 'head', size: 22 })]);
  });

  it('is verified even if a line has a number that is too large, and the line is reported', async () => {
    const file = join(copy, 'events-000001.ndjson');
    const [first, ...others] = readFileSync(file, 'utf8').split('\n');
    const text = first!.replace(/,"leaf":"[0-9a-f]{64}"\}$/, '}').replace('"thing-0"', '1e999');
    const leaf = leafHash(text).toString('hex');
    writeFileSync(file, [`${text.slice(0, -1)},"leaf":"${leaf}"}`, ...others].join('\n'));
    const { printed } = await invoke('audit', env(), '--json', 'verify', '--from', copy);
    const { ledger, faults } = JSON.parse(printed) as Report;
    expect(ledger!.findings).toContainEqual(expect.objectContaining({ kind: 'deleted' }));
    expect(faults).toContain('events-000001.ndjson, line 1: does not have its leaf hash: it was changed');
  });

  it('is contradicted by one changed event, which verify names as the cause', async () => {
    const change = (from: string, to: string): Promise<unknown> =>
      db.database.query(
        `update event_store.events set data = replace(data, 'thing-${from}"', 'thing-${to}"')
         where position = (select position from event_store.events where data like '%thing-5"%' or data like '%thing-55"%' order by position limit 1)`,
      );
    await change('5', '55');
    const { printed } = await invoke('audit', env(), 'verify', '--key', pem);
    await change('55', '5');
    expect(printed.match(/^CHANGED .*$/gm)).toEqual([
      expect.stringContaining('is not the one that was recorded'),
    ]);
    expect(printed).toMatch(/^ {2}FOLLOWS the first \d+ events are not those that were signed/m);
  });
});
