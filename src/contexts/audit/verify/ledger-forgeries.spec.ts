import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { headSizesIn, listOf } from '../../../../test/support/audit/signed-log.js';
import { eventually } from '../../../../test/support/eventually.js';
import { freshReport } from '../../../../test/support/fresh-report.js';
import { runFolder } from '../../../../test/support/run-folder.js';
import { SubscriptionHarness } from '../../../../test/support/event-store/subscription-harness.js';
import { systemClock } from '../../../kernel/clock.js';
import { HealthRegistry } from '../../../platform/telemetry/health.js';
import { MerkleTree } from '../ledger/merkle-tree.js';
import { hashOfHead, type SignedHead } from '../ledger/signed-head.js';
import { Heads, SigningKeys } from '../ledger/heads.store.js';
import { Ledger } from '../ledger/ledger.store.js';
import { HeadSignerProcessor } from '../ledger/head-signer.processor.js';
import { LedgerAnchor, ledgerFollower, LedgerStart } from '../ledger/ledger-follower.saga.js';
import { LedgerKeys } from '../ledger/ledger-keys.commands.js';
import { PayoutProofs } from '../ledger/payout-proofs.service.js';
import { auditConfig } from '../audit.config.js';

const TABLES = ['audit.signing_keys', 'audit.leaves', 'audit.ledger', 'audit.heads', 'audit.last_head'];
const EVERYTHING = [...TABLES, 'event_store.checkpoints', 'event_store.events'];

describe('the ledger, if somebody without the master key changes its tables,', () => {
  let harness: SubscriptionHarness;
  let health: HealthRegistry;
  let signer: HeadSignerProcessor;
  let first: SignedHead;
  let file: string;

  const database = () => harness.database.database;
  const ledger = (): Ledger => new Ledger(database());
  const signingKeys = (): SigningKeys => new SigningKeys(database());
  const ledgerKeys = (): LedgerKeys => new LedgerKeys(signingKeys(), harness.sealer, systemClock);
  const beginning = (): LedgerStart =>
    new LedgerStart(harness.writer, ledgerKeys(), new Heads(database()), harness.sealer);
  const storedHeads = (): Promise<SignedHead[]> => listOf(new Heads(database()).all());
  const copyOf = (table: string): string => `public.${table.replace('.', '_')}`;

  beforeAll(async () => {
    harness = await SubscriptionHarness.open();
    await beginning().onModuleInit();
    restart();
    await harness.write(5);
    first = (await signed(5))!;
    await harness.end();
    for (const table of EVERYTHING) await sql(`create table ${copyOf(table)} as table ${table}`);
  });
  afterAll(() => harness.database.drop());

  beforeEach(async () => {
    jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
    jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
    await restore(EVERYTHING);
    restart();
    await harness.write(4);
    expect((await signed(9))!.previous).toBe(hashOfHead(first));
  });
  afterEach(async () => {
    await harness.end();
    jest.restoreAllMocks();
  });

  /** A process with follower and signer. */
  function start(auditHeadsFile = file) {
    const own = new HealthRegistry();
    const anchor = new LedgerAnchor(own, ledger(), harness.writer);
    const config = { ...auditConfig({}), auditHeadSeconds: 3600, auditHeadsFile };
    const parts = [ledger(), new Heads(database()), ledgerKeys(), anchor, harness.sealer] as const;
    const signer = new HeadSignerProcessor(...parts, systemClock, config);
    harness
      .process(ledgerFollower(harness.writer, harness.sealer, anchor, () => signer.lastKnown()))
      .runner.start();
    return { signer, health: own };
  }
  /** The process of a test, with an empty file of heads. */
  function restart(): void {
    file = join(runFolder(), `${randomUUID()}.jsonl`);
    ({ signer, health } = start());
  }

  async function sql(text: string): Promise<void> {
    await harness.database.pool.query(text);
  }
  /** Truncates the tables to the first head. */
  async function restore(tables: readonly string[]): Promise<void> {
    await sql(`truncate ${tables.join(', ')} cascade`);
    for (const table of tables) await sql(`insert into ${table} table ${copyOf(table)}`);
  }
  const hasLeaves = (size: number): Promise<true> =>
    eventually(async () => (await ledger().state())?.tree.size === size);
  /** Signs the next head, once the ledger has this number of leaves. */
  async function signed(size: number): Promise<SignedHead | null> {
    await hasLeaves(size);
    return signer.sign();
  }
  const problem = async (): Promise<string | undefined> =>
    (await freshReport(() => health.report())).checks['ledger']?.detail;
  const refuses = async (sentence: string): Promise<void> => {
    const { length } = await storedHeads();
    await expect(signer.sign()).rejects.toThrow(sentence);
    expect(await problem()).toContain(sentence);
    expect(Logger.prototype.error).toHaveBeenCalledWith(
      expect.objectContaining({ msg: expect.stringContaining(sentence) }),
    );
    expect(await storedHeads()).toHaveLength(length);
  };

  const inFile = (): number[] => headSizesIn(file);
  const insertHead = (size: number): Promise<void> =>
    sql(`insert into audit.heads select ${size}, root, position, signed_at, key_id, previous, signature
      from audit.heads where size = 9`);
  const sign = (): Promise<unknown> => signer.work.options.run(new AbortController().signal);
  const proofs = (): PayoutProofs => {
    const stores = [ledger(), new Heads(database()), signingKeys()] as const;
    return new PayoutProofs(harness.writer, ...stores, harness.sealer, auditConfig({}));
  };

  it('hides a forged newest head from file and merchants, and signs again after its deletion', async () => {
    await sign();
    await insertHead(999_999_999);
    await expect(sign()).rejects.toThrow();
    const sentence = 'audit.heads has a head over 999999999 events that the service did not sign';
    await refuses(sentence);
    expect(inFile()).toEqual([5, 9]);
    expect(await proofs().newestHead()).toMatchObject({ size: 9 });
    await expect(proofs().consistency(5, 999_999_999)).rejects.toMatchObject({ code: 'not_found' });
    await sql('delete from audit.heads where size = 999999999');
    await harness.write(1);
    expect(await signed(10)).toMatchObject({ size: 10 });
    expect(inFile()).toEqual([5, 9, 10]);
    expect(await problem()).toBeUndefined();
    await harness.end();
    ({ signer, health } = start());
    expect(await signer.sign()).toBeNull();
  });

  it('hides a forged head between two genuine heads from file and merchants', async () => {
    rmSync(file, { force: true });
    await insertHead(7);
    await refuses('the head over 7 events in audit.heads: its signature is wrong');
    await sql('update audit.heads set previous = null where size = 7');
    await refuses('the head over 7 events in audit.heads: it does not follow the head before it');
    expect(inFile()).toEqual([]);
    await expect(proofs().consistency(5, 7)).rejects.toMatchObject({ code: 'unavailable' });
    expect(await proofs().newestHead()).toMatchObject({ size: 9 });
    await sql('delete from audit.heads where size = 7');
    await sign();
    expect(inFile()).toEqual([5, 9]);
  });

  it('returns no head to merchants while the row of the last head is not authentic', async () => {
    await sql("update audit.last_head set size = 5, hash = 'x'");
    await expect(proofs().newestHead()).rejects.toMatchObject({ code: 'unavailable' });
    await sql(`update audit.last_head set size = 5, hash = '${hashOfHead(first)}'`);
    await expect(proofs().newestHead()).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('signs nothing for a forged state of the tree, and is healthy again after the repair', async () => {
    const { rows } = await harness.database.pool.query<{ peaks: Buffer; size: string }>('table audit.ledger');
    const tree = new MerkleTree(Number(rows[0]!.size), rows[0]!.peaks);
    tree.append(Buffer.alloc(32, 1));
    await sql(`update audit.ledger set size = ${tree.size}, peaks = '\\x${tree.peakBytes.toString('hex')}'`);
    await refuses('the row of audit.ledger was not written by the service');
    await sql(`update audit.ledger set size = 9, peaks = '\\x${rows[0]!.peaks.toString('hex')}'`);
    expect(await signer.sign()).toBeNull();
    expect(await problem()).toBeUndefined();
  });

  it('reports a forged state of the tree when the follower adds an event', async () => {
    await sql(`update audit.ledger set position = position - 1`);
    await harness.write(1);
    const sentence = 'the row of audit.ledger was not written by the service';
    await eventually(async () => (await problem()) === sentence);
  });

  it.each([
    ['all tables', EVERYTHING, 'heads went back to 5 of 9'],
    ['leaves and state of the tree', ['audit.leaves', 'audit.ledger'], 'the ledger went back to 5 of 9'],
    ['heads and row of the last head', ['audit.heads', 'audit.last_head'], 'heads went back to 5 of 9'],
    ['only the heads', ['audit.heads'], 'no longer has the head that was signed over 9'],
  ])('signs nothing after a restore of %s to an older head', async (_, tables, sentence) => {
    await restore(tables);
    await refuses(sentence);
  });

  it.each([
    ['audit.ledger', 'audit.ledger was emptied'],
    ['audit.heads', 'no longer has the head'],
    ['audit.last_head', 'audit.last_head was emptied'],
    [TABLES.join(), 'was emptied'],
  ])('neither signs nor creates keys once %s was emptied, also in a new process', async (names, sentence) => {
    await sql(`truncate ${names} cascade`);
    await refuses(sentence);
    await harness.end();
    ({ signer, health } = start());
    const { length } = await signingKeys().all();
    await beginning().onModuleInit();
    await refuses(sentence);
    expect(await signingKeys().all()).toHaveLength(length);
  });

  it('creates no new key after the keys were deleted', async () => {
    await sql('truncate audit.signing_keys cascade');
    await harness.write(1);
    await hasLeaves(10);
    await expect(signer.sign()).rejects.toThrow();
    expect(await signingKeys().all()).toEqual([]);
  });

  it('adds no leaves after a restore of older leaves, even before the first run of the signer', async () => {
    await harness.end();
    rmSync(file);
    await restore(['audit.leaves', 'audit.ledger', 'event_store.checkpoints']);
    ({ signer, health } = start());
    await eventually(async () => (await problem()) === 'the ledger went back to 5 of 9 signed events');
    expect((await ledger().state())!.tree.size).toBe(5);
  });

  it.each([
    ['all tables', EVERYTHING],
    ['leaves and heads', [...TABLES, 'event_store.checkpoints']],
  ])('signs after a restore of %s only with a new AUDIT_HEADS_FILE', async (_, tables) => {
    await harness.end();
    await restore(tables);
    ({ signer, health } = start());
    await refuses('heads went back to 5 of 9');
    await harness.end();
    restart();
    await harness.write(4);
    const head = await signed(tables === EVERYTHING ? 9 : 13);
    expect(head).toMatchObject({ previous: hashOfHead(first) });
    expect(inFile()).toEqual([5, head!.size]);
    expect(await problem()).toBeUndefined();
  });

  it('signs one chain of heads even if two processes sign at the same time', async () => {
    const otherFile = join(runFolder(), `${randomUUID()}.jsonl`);
    const { signer: other } = start(otherFile);
    for (let size = 10; size <= 15; size += 1) {
      await harness.write(1);
      await hasLeaves(size);
      const heads = await Promise.all([signer, other].map((each) => each.sign()));
      expect(heads.filter((head) => head !== null).map((head) => head.size)).toEqual([size]);
    }
    const heads = await storedHeads();
    expect(heads.map(({ size }) => size)).toEqual([5, 9, 10, 11, 12, 13, 14, 15]);
    expect(heads.slice(1).map(({ previous }) => previous)).toEqual(heads.slice(0, -1).map(hashOfHead));
    // Each process adds the other's heads to its file.
    for (const each of [signer, other]) expect(await each.sign()).toBeNull();
    expect([inFile(), headSizesIn(otherFile)]).toEqual(Array(2).fill(heads.map(({ size }) => size)));
    expect(await problem()).toBeUndefined();
  });

  it('starts again when an operator begins another ledger', async () => {
    await sql('truncate audit.leaves, audit.ledger, audit.heads, audit.last_head');
    await refuses('was emptied');
    await harness.end();
    await beginning().execute();
    file = `${file}.next`;
    ({ signer, health } = start());
    expect(await signed(9)).toMatchObject({ size: 9, previous: null });
    expect(await problem()).toBeUndefined();
  });
});
