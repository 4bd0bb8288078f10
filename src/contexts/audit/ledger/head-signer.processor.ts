import { Inject, Injectable } from '@nestjs/common';
import { CLOCK, type Clock, timestamp } from '../../../kernel/clock.js';
import { Background, BackgroundWork } from '../../../platform/jobs/background-work.js';
import { Sealer } from '../../../platform/sealing/sealer.js';
import { consistencyRanges, provesConsistency } from './merkle-tree.js';
import {
  hashOfHead,
  LedgerTampered,
  type HeadExtent,
  type SignedHead,
  toTree,
  type SigningKey,
} from './signed-head.js';
import { Heads } from './heads.store.js';
import { isAuthenticState, Ledger, type LedgerState } from './ledger.store.js';
import { LedgerAnchor } from './ledger-follower.saga.js';
import { LedgerKeys, HeadVerifier } from './ledger-keys.commands.js';
import { auditConfig, type AuditConfig } from '../audit.config.js';
import { type FileHandle, open } from 'node:fs/promises';

/** Signs a head at regular intervals if the ledger has new leaves. Any number of processes may run it. */
@Injectable()
export class HeadSignerProcessor {
  @Background()
  readonly work: BackgroundWork;
  private readonly file: HeadsFile | null;

  constructor(
    private readonly ledger: Ledger,
    private readonly heads: Heads,
    private readonly keys: LedgerKeys,
    private readonly anchor: LedgerAnchor,
    private readonly sealer: Sealer,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(auditConfig.KEY) config: AuditConfig,
  ) {
    this.file = config.auditHeadsFile === null ? null : new HeadsFile(config.auditHeadsFile);
    this.work = new BackgroundWork({
      name: 'signing of heads',
      everyMs: config.auditHeadSeconds * 1000,
      run: () => this.sign(),
    });
  }

  /** Signs a head and adds it to the file. Returns null without new leaves. Throws {@link LedgerTampered}. */
  async sign(): Promise<SignedHead | null> {
    return this.anchor.guard('signer', async () => {
      await this.lastKnown();
      const head = await this.heads.extend(this.sealer, (last) => this.next(last));
      if (head !== null) this.anchor.last = { size: head.size, hash: hashOfHead(head) };
      if (this.anchor.last !== null)
        await this.file?.append(this.heads, await this.hasHead(this.anchor.last), () => this.keys.listOwn());
      return head;
    });
  }

  private async next(last: HeadExtent): Promise<SignedHead | null> {
    // One row has size, position and root, so that they are consistent while leaves are added.
    const state = await this.ledger.state();
    if (state === null && last.size === 0 && this.anchor.last === null) return null;
    if (state === null) throw new LedgerTampered('audit.ledger was emptied');
    const former = await this.formerHead(last);
    if (!isAuthenticState(state, this.sealer))
      throw new LedgerTampered('the row of audit.ledger was not written by the service');
    if (former !== null) await this.requireExtends(former, state);
    this.anchor.last = last.size > 0 ? last : this.anchor.last;
    if (state.tree.size === last.size) return null;
    const { logId, tree, position } = state;
    return this.keys.sign({
      log_id: logId,
      size: tree.size,
      root: tree.root.toString('hex'),
      position,
      signed_at: timestamp(this.clock),
      previous: former === null ? null : last.hash,
    });
  }

  /** Returns the last head; null before the first. Throws {@link LedgerTampered} for added or lost heads. */
  private async formerHead(last: HeadExtent): Promise<SignedHead | null> {
    const known = this.anchor.last;
    if (known !== null && known.size > last.size)
      throw new LedgerTampered(`heads went back to ${last.size} of ${known.size} signed events`);
    const newest = (await this.heads.newest())?.size ?? 0;
    if (newest > last.size)
      throw new LedgerTampered(`audit.heads has a head over ${newest} events that the service did not sign`);
    if (last.size === 0) return null;
    const former = await this.hasHead(last);
    if (known !== null) await this.hasHead(known);
    return former;
  }

  private async hasHead(extent: HeadExtent): Promise<SignedHead> {
    const head = await this.heads.find(extent);
    if (head !== null) return head;
    throw new LedgerTampered(`audit.heads no longer has the head that was signed over ${extent.size} events`);
  }

  private async requireExtends(former: SignedHead, { tree }: LedgerState): Promise<void> {
    if (tree.size < former.size)
      throw new LedgerTampered(`the ledger went back to ${tree.size} of ${former.size} signed events`);
    const ranges = consistencyRanges(former.size, tree.size);
    const path = await this.ledger.path(ranges).catch((error: unknown) => {
      throw new LedgerTampered('audit.leaves lacks leaves that were signed', { cause: error });
    });
    if (!provesConsistency(toTree(former), tree, path))
      throw new LedgerTampered(`the ledger does not extend the head over ${former.size} events`);
  }

  /** Finds the last signed head in memory, in AUDIT_HEADS_FILE or in the database, in this order. */
  async lastKnown(): Promise<HeadExtent | null> {
    if (this.anchor.last !== null) return this.anchor.last;
    const head = (await this.file?.newest()) ?? null;
    if (head !== null) return (this.anchor.last = { size: head.size, hash: hashOfHead(head) });
    const stored = await this.heads.lastSigned(this.sealer);
    return (this.anchor.last = stored !== null && stored.size > 0 ? stored : null);
  }
}

const MAX_LINES = 500;
/** The number of bytes to read from the end of the file. The last line is shorter. */
const TAIL_BYTES = 4096;

/** A file with signed heads as lines of JSON, for a log shipper. */
export class HeadsFile {
  constructor(private readonly path: string) {}

  newest(): Promise<SignedHead | null> {
    return this.opened(lastOf);
  }

  /** Adds the heads up to `newest`. Throws {@link LedgerTampered} for a wrong signature or a broken chain. */
  async append(
    heads: Pick<Heads, 'all'>,
    newest: SignedHead,
    keys: () => Promise<readonly SigningKey[]>,
  ): Promise<void> {
    return this.opened(async (file) => {
      const inFile = await lastOf(file);
      // Heads of another log remain in the file, before those of this log.
      let last = inFile?.log_id === newest.log_id ? inFile : null;
      if (last !== null && last.size >= newest.size) return;
      const trust = new HeadVerifier(newest.log_id, await keys(), null, null);
      const lines: string[] = [];
      const write = async (): Promise<void> => {
        await file.appendFile(lines.splice(0).join(''));
        await file.datasync();
      };
      for await (const head of heads.all({ after: last?.size ?? 0, upTo: newest.size })) {
        requireNext(head, last, trust);
        last = head;
        lines.push(`${JSON.stringify(head)}\n`);
        if (lines.length === MAX_LINES) await write();
      }
      if (last?.size !== newest.size)
        throw new LedgerTampered(`audit.heads lacks the head over ${newest.size} events`);
      await write();
    });
  }

  private async opened<T>(work: (file: FileHandle) => Promise<T>): Promise<T> {
    const file = await open(this.path, 'a+', 0o644);
    return work(file).finally(() => file.close());
  }
}

function requireNext(head: SignedHead, last: SignedHead | null, trust: HeadVerifier): void {
  const isNext = head.previous === (last === null ? null : hashOfHead(last));
  const why = isNext ? trust.verify(head) : 'it does not follow the head before it';
  if (why !== null) throw new LedgerTampered(`the head over ${head.size} events in audit.heads: ${why}`);
}

/** Returns the head of the last complete line, or null. Removes an incomplete line after it. */
async function lastOf(file: FileHandle): Promise<SignedHead | null> {
  const { size: bytes } = await file.stat();
  const from = Math.max(0, bytes - TAIL_BYTES);
  const tail = Buffer.alloc(bytes - from);
  await file.read(tail, 0, tail.length, from);
  const end = tail.lastIndexOf('\n') + 1;
  if (end < tail.length) await file.truncate(from + end);
  const last = tail.subarray(0, end).toString().trimEnd().split('\n').at(-1)!;
  return last === '' ? null : (JSON.parse(last) as SignedHead);
}
