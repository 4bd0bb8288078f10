import { Inject, Injectable } from '@nestjs/common';
import { CLOCK, type Clock, timestamp } from '../../../kernel/clock.js';
import { Background, BackgroundWork } from '../../../platform/jobs/background-work.js';
import { Sealer } from '../../../platform/sealing/sealer.js';
import { consistencyRanges, provesConsistency } from '../domain/merkle-proof.js';
import {
  hashOfHead,
  LedgerTampered,
  type SignedExtent,
  type SignedHead,
  toTree,
} from '../domain/signed-head.js';
import { Heads } from '../store/heads.js';
import { isAuthenticState, Ledger, type LedgerState } from '../store/ledger.js';
import { HeadsFile } from './heads-file.js';
import { LedgerAnchor } from './ledger-follower.js';
import { LedgerKeys } from './ledger-keys.js';
import { auditConfig, type AuditConfig } from '../settings.js';

/** Signs a head over what the ledger holds, at an interval, when there is something new. Several processes may. */
@Injectable()
export class HeadSigner {
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

  /** Also adds it to the file. The new head; null when the newest one covers the ledger. Throws {@link LedgerTampered} where it does not extend the last one. */
  async sign(): Promise<SignedHead | null> {
    return this.anchor.guard('signer', async () => {
      await this.lastKnown();
      const head = await this.heads.extend(this.sealer, (last) => this.next(last));
      if (head !== null) this.anchor.last = { size: head.size, hash: hashOfHead(head) };
      if (this.anchor.last !== null)
        await this.file?.append(this.heads, await this.hasHead(this.anchor.last), () => this.keys.own());
      return head;
    });
  }

  private async next(last: SignedExtent): Promise<SignedHead | null> {
    // One row, so that size, position and root belong together even while leaves are added.
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

  /** The head that was signed last; null before the first. Neither it nor one that this process knows may be missing. */
  private async formerHead(last: SignedExtent): Promise<SignedHead | null> {
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

  private async hasHead({ size, hash }: SignedExtent): Promise<SignedHead> {
    const head = await this.heads.at(size);
    if (head !== null && hashOfHead(head) === hash) return head;
    throw new LedgerTampered(`audit.heads no longer has the head that was signed over ${size} events`);
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

  /** The head that was signed last, as far as this process knows: from memory, AUDIT_HEADS_FILE, or else the database. */
  async lastKnown(): Promise<SignedExtent | null> {
    if (this.anchor.last !== null) return this.anchor.last;
    const head = (await this.file?.newest()) ?? null;
    if (head !== null) return (this.anchor.last = { size: head.size, hash: hashOfHead(head) });
    const stored = await this.heads.lastSigned(this.sealer);
    return (this.anchor.last = stored !== null && stored.size > 0 ? stored : null);
  }
}
