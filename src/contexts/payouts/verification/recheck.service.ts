import { waitForRetry } from '../../../platform/jobs/backoff.js';
import { logPages } from '../../../platform/event-store/log-pages.js';
import type { EventStore, RecordedEvent } from '../../../platform/event-store/port.js';
import { comparableHash, PAYOUT_RECEIVED, type PayoutReceived } from '../payouts/payout-events.js';
import { toRecheck, type Rechecked } from './rechecked.js';
import {
  ChainUnavailable,
  requestedTransactions,
  type ChainObservation,
  type TransactionRequest,
} from './chain.ports.js';

/** The number of attempts while a node is briefly unavailable or the chain is reorganised. */
const TRIES = 4;
const BETWEEN = { firstMs: 500, maxMs: 2000 };

/** The node of a recheck. Both methods throw {@link ChainUnavailable}. */
interface RecheckedNode {
  confirm(requested: readonly TransactionRequest[], separately: boolean): Promise<ChainObservation>;
  blockHashes(heights: readonly number[]): Promise<ReadonlyMap<number, string>>;
}

interface Noted {
  readonly kind: Exclude<Rechecked['kind'], 'unchanged'>;
  readonly payout_id: string;
  readonly position: string;
  readonly why: string;
}

type Received = PayoutReceived['data'] & { readonly position: string };

/** Checks every received payout against a node, one page of the log at a time to bound the memory. */
export class Recheck {
  readonly counts = {
    checked: 0,
    unchanged: 0,
    moved: 0,
    undone: 0,
    unknown: 0,
    other_chains: 0,
  };

  constructor(
    private readonly store: Pick<EventStore, 'head' | 'readAll'>,
    private readonly node: RecheckedNode,
    private readonly chainId: number,
    /** The position up to which payouts are checked; null before the first page. */
    public position: string | null,
  ) {}

  /** Yields the notes on each page of the log. Continue from `position` after {@link ChainUnavailable}. */
  async *pages(): AsyncGenerator<readonly Noted[]> {
    for await (const events of logPages(this.store, { after: this.position, end: await this.store.head() })) {
      const notes = await this.check(events);
      this.position = events.at(-1)!.position;
      yield notes;
    }
  }

  private async check(events: readonly RecordedEvent[]): Promise<readonly Noted[]> {
    const notes: Noted[] = [];
    const here: Received[] = [];
    let elsewhere = 0;
    for (const event of events) {
      const { position, type, data } = event;
      if (!type.startsWith('payout.received.')) continue;
      if (type !== PAYOUT_RECEIVED) {
        const why = `this version does not know ${type}`;
        notes.push({ kind: 'unknown', payout_id: String(data['payout_id']), position, why });
      } else if (data['chain_id'] === this.chainId)
        here.push({ ...(event as RecordedEvent & PayoutReceived).data, position });
      else elsewhere += 1;
    }
    const results = await this.results(here);
    here.forEach(({ payout_id, position }, place) => {
      const result = results[place]!;
      if (result.kind === 'unchanged') this.counts.unchanged += 1;
      else notes.push({ ...result, payout_id, position });
    });
    for (const { kind } of notes) this.counts[kind] += 1;
    this.counts.checked += here.length;
    this.counts.other_chains += elsewhere;
    return notes;
  }

  private async results(payouts: readonly Received[]): Promise<readonly Rechecked[]> {
    if (payouts.length === 0) return [];
    const paid = payouts.map((data) => ({ data, hash: comparableHash(data.transaction_hash) }));
    const requested = requestedTransactions(paid.map(({ hash, data }) => ({ hash, wallet: data.to })));
    const { final, receipts } = await this.confirm(requested, false);
    const withoutResponse = requested.filter(({ hash }) => !receipts.has(hash));
    const again = withoutResponse.length === 0 ? null : await this.confirm(withoutResponse, true);
    const seen = new Map([...receipts, ...(again?.receipts ?? [])]);
    const heights = paid.flatMap(({ data, hash }) => (seen.get(hash) === null ? [data.block_number] : []));
    const hashes = await this.node.blockHashes([...new Set(heights)]);
    return paid.map(({ data, hash }) => {
      const hashAtHeight = hashes.get(data.block_number);
      return toRecheck(data, { receipt: seen.get(hash), final: final.number, hashAtHeight });
    });
  }

  private async confirm(
    requested: readonly TransactionRequest[],
    separately: boolean,
  ): Promise<ChainObservation> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.node.confirm(requested, separately);
      } catch (error) {
        if (!(error instanceof ChainUnavailable) || attempt === TRIES) throw error;
        await waitForRetry(BETWEEN, attempt - 1);
      }
    }
  }
}
