import { Disburse } from '../../../../packages/sdk/src/index.js';
import { haveReached, headOf } from '../books.js';
import type { Acknowledged } from '../report-load.js';
import type { ServiceProcess } from '../service-process.js';
import type { Shared } from '../shared.js';
import type { Verdict } from '../verdict.js';
import type { Receivers } from '../webhooks/receivers.js';

const DAY_MS = 86_400_000;
const SETTLE_MS = 60_000;

/** The knowledge of receivers and of the merchant's own list about payouts that a restored service lacks. */
export class Witnesses {
  constructor(
    private readonly shared: Shared,
    private readonly service: ServiceProcess,
    private readonly receiver: Receivers,
    private readonly verdict: Verdict,
  ) {}

  /**
   * Each witness lists the lost reports that it can know, and no surviving one. Returns the number of webhooks that the
   * service no longer has.
   */
  async check(
    confirmed: readonly Acknowledged[],
    lostIds: ReadonlySet<string>,
    all: readonly Acknowledged[],
  ): Promise<number> {
    const { pool } = this.shared;
    const head = await headOf(pool);
    await this.verdict.eventually(
      'the read models are as new as the log',
      () => haveReached(pool, head),
      SETTLE_MS,
    );
    const lost = confirmed.filter(({ payoutId }) => lostIds.has(payoutId));
    const known = all.filter(({ payoutId }) => !lostIds.has(payoutId));
    await this.checkOwnList(all, lost);
    return this.checkReceivers(lost, known);
  }

  /** The merchant compares its own books with the service. */
  private async checkOwnList(own: readonly Acknowledged[], lost: readonly Acknowledged[]): Promise<void> {
    const { apiKey, privateKey } = this.service.merchant;
    const client = new Disburse({ apiKey, privateKey, baseUrl: this.service.baseUrl });
    const [from, to] = [Date.now() - DAY_MS, Date.now()].map((at) => new Date(at).toISOString().slice(0, 10));
    const { missing, different } = await client.payouts.reconcile(
      { created_from: from!, created_to: to! },
      own.map(({ request }) => {
        const { user_id, payout } = JSON.parse(request) as Report;
        return { user_id, transaction_hash: payout.transaction_hash, amount: payout.amount };
      }),
    );
    this.verdict.none(different, 'a payout differs from the books of the merchant');
    this.verdict.equal(
      missing
        .map(({ transaction_hash }) => transaction_hash)
        .toSorted()
        .join(),
      lost.map(transactionOf).toSorted().join(),
      'payouts.reconcile of the client lists the reports that are gone',
    );
  }

  private async checkReceivers(
    lost: readonly Acknowledged[],
    known: readonly Acknowledged[],
  ): Promise<number> {
    const received = [...this.receiver.arrived.values()].map(({ envelope }) => envelope);
    const { rows } = await this.shared.pool.query<{ id: string }>(
      `select id from unnest($1::uuid[]) id
       where not exists (select from webhooks.deliveries where delivery_id = id)`,
      [received.map(({ id }) => id)],
    );
    const unknownIds = new Set(rows.map(({ id }) => id));
    const unknown = received.filter(({ id }) => unknownIds.has(id));
    const about = (reports: readonly Acknowledged[]): ReadonlySet<unknown> =>
      new Set(reports.map(({ payoutId }) => payoutId));
    const [ofLost, ofKnown] = [about(lost), about(known)];
    this.verdict.none(
      received.filter(({ id, data }) => ofLost.has(data['payout_id']) && !unknownIds.has(id)),
      'the service knows the delivery of a webhook about a payout that is gone',
    );
    this.verdict.none(
      unknown.filter(({ data }) => !ofLost.has(data['payout_id']) && !ofKnown.has(data['payout_id'])),
      'a webhook that the service does not know is about no payout',
    );
    return unknown.length;
  }
}

interface Report {
  readonly user_id: string;
  readonly payout: { readonly amount: string; readonly transaction_hash: string };
}

function transactionOf({ request }: Acknowledged): string {
  return (JSON.parse(request) as Report).payout.transaction_hash;
}
