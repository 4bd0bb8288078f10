import { Inject, Injectable } from '@nestjs/common';
import { isFence } from '../../../platform/event-store/claims.js';
import { EVENT_STORE, type EventStore, type RecordedEvent } from '../../../platform/event-store/port.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { ReportsAudit } from '../../../platform/operations/system-report.js';
import { Sealer } from '../../../platform/sealing/sealer.js';
import { PAYOUT_CATEGORY } from '../../payouts/payouts.contract.js';
import { canonicalJson, eventLeaf } from './event-leaf.js';
import { consistencyRanges, inclusionRanges } from './merkle-tree.js';
import type { SignedHead } from './signed-head.js';
import { Heads, SigningKeys } from './heads.store.js';
import { Ledger } from './ledger.store.js';
import { isOwnKey, isSignedHead, toPem } from './ledger-keys.commands.js';
import { auditConfig, type AuditConfig } from '../audit.config.js';

/** The proofs of the ledger for merchants (contract.md 10.9 to 10.11). */
@Injectable()
export class PayoutProofs {
  constructor(
    @Inject(EVENT_STORE) private readonly store: Pick<EventStore, 'readStream'>,
    private readonly ledger: Ledger,
    private readonly heads: Heads,
    private readonly keys: SigningKeys,
    private readonly sealer: Sealer,
    @Inject(auditConfig.KEY) private readonly config: AuditConfig,
  ) {}

  /** Reads the newest head. Throws `unavailable` if there is none, or heads were changed from outside. */
  async newestHead() {
    const last = await this.heads.lastSigned(this.sealer);
    if (last?.size === 0) throw this.notYet('No head is signed yet');
    const head = last && (await this.heads.find(last));
    if (head === null) throw changed();
    return this.withKey(head);
  }

  @ReportsAudit('head')
  async reportedHead(): Promise<object | null> {
    return this.newestHead().catch((error: unknown) => {
      if (error instanceof DomainError && error.code === 'unavailable') return null;
      throw error;
    });
  }

  /** Proves that the head over `to` events (null: the newest) extends the first `from` events. */
  async consistency(from: number, to: number | null) {
    const newest = await this.newestHead();
    const head = to === null ? newest : to > newest.size ? null : await this.heads.at(to);
    if (head === null) throw DomainError.notFound('Head');
    if (from > head.size)
      throw new DomainError('bad_request', `from must be at most ${head.size}, the size of the head`);
    const path = await this.ledger.path(consistencyRanges(from, head.size));
    return { from, head: await this.withKey(head), path: path.map(toHex) };
  }

  private async withKey(head: SignedHead) {
    const key = (await this.keys.all()).find(({ key_id }) => key_id === head.key_id);
    if (key === undefined || !isOwnKey(key, this.sealer) || !isSignedHead(head, key)) throw changed();
    return { ...head, public_key: toPem(key) };
  }

  async findMerchant(payoutId: string): Promise<string> {
    return (await this.read(payoutId)).merchantId;
  }

  /** Reads events and merchant of a payout, or throws `not_found`. A fence can come first (claims.ts). */
  private async read(payoutId: string) {
    const events = await this.store.readStream(`${PAYOUT_CATEGORY}-${payoutId}`);
    const merchantId = events.find((event) => !isFence(event))?.data['merchant_id'];
    if (typeof merchantId !== 'string') throw DomainError.notFound('Payout');
    return { events, merchantId };
  }

  /** Proves all events of a payout. Throws `not_found`, or `unavailable` until a head covers all events. */
  async of(merchantId: string, payoutId: string) {
    const { events, merchantId: owner } = await this.read(payoutId);
    if (owner !== merchantId) throw DomainError.notFound('Payout');
    const [head, indexes] = await Promise.all([
      this.newestHead(),
      this.ledger.indexes(events.map(({ position }) => position)),
    ]);
    const proven = await Promise.all(events.map((event, place) => this.prove(event, indexes[place]!, head)));
    return { payout_id: payoutId, events: proven, head };
  }

  private async prove(event: RecordedEvent, index: number | null, head: SignedHead) {
    if (index === null || index >= head.size)
      throw this.notYet('The newest event of the payout is not signed yet');
    const path = await this.ledger.path(inclusionRanges(index, head.size));
    return { leaf: canonicalJson(eventLeaf(event)), index, path: path.map(toHex) };
  }

  private notYet(what: string): DomainError {
    const seconds = this.config.auditHeadSeconds;
    return new DomainError('unavailable', `${what}: heads are signed every ${seconds} seconds`, {}, seconds);
  }
}

export function toHex(hash: Buffer): string {
  return hash.toString('hex');
}

function changed(): DomainError {
  return new DomainError('unavailable', 'The signed heads were changed outside the service');
}
