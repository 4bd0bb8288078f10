import { writeFileSync } from 'node:fs';
import { Disburse } from '../../../../packages/sdk/src/index.js';
import { invoke } from '../../../support/programs/cli.js';
import { haveReached, headOf } from '../books.js';
import type { Acknowledged } from '../report-load.js';
import type { ServiceProcess } from '../service-process.js';
import type { Shared } from '../shared.js';
import type { Verdict } from '../verdict.js';
import type { Receivers } from '../webhooks/receivers.js';

const DAY_MS = 86_400_000;
const SETTLE_MS = 60_000;

/** What receivers, the chain and the merchant's own list know of payouts that a restored service lacks. */
export class Witnesses {
  constructor(
    private readonly shared: Shared,
    private readonly service: ServiceProcess,
    private readonly receiver: Receivers,
    private readonly verdict: Verdict,
  ) {}

  /**
   * Of the reports that were confirmed before the destruction each witness lists those that are gone, as far as it can
   * know of them, and none that survived. How many webhooks the service no longer knows. `file` is for the received ones.
   */
  async check(
    confirmed: readonly Acknowledged[],
    lostIds: ReadonlySet<string>,
    all: readonly Acknowledged[],
    file: string,
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
    await this.checkChain(lost, known);
    await this.checkOwnList(all, lost);
    return this.checkReceivers(lost, known, file);
  }

  /** Once every request was repeated the service knows of every transfer. */
  async checkAllReported(): Promise<void> {
    this.verdict.none(await this.unreported(), 'a transfer to a user that no payout names');
  }

  private async checkChain(lost: readonly Acknowledged[], known: readonly Acknowledged[]): Promise<void> {
    const named = new Set(known.map(transactionOf));
    const expected = lost
      .filter((each) => each.backing !== 'nothing' && !named.has(transactionOf(each)))
      .map(transactionOf);
    const listed = await this.unreported();
    this.verdict.equal(
      listed.toSorted().join(),
      [...new Set(expected)].toSorted().join(),
      'npm run payout -- unreported lists the transfers of reports that are gone',
    );
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
    file: string,
  ): Promise<number> {
    const received = [...this.receiver.arrived.values()].map(({ envelope }) => envelope);
    writeFileSync(file, received.map((envelope) => `${JSON.stringify(envelope)}\n`).join(''));
    const unknown = await this.listed('delivery', 'unknown', file);
    const unknownIds = new Set(unknown.map(({ webhook_id }) => webhook_id));
    const about = (reports: readonly Acknowledged[]): ReadonlySet<unknown> =>
      new Set(reports.map(({ payoutId }) => payoutId));
    const [ofLost, ofKnown] = [about(lost), about(known)];
    this.verdict.none(
      received.filter(({ id, data }) => ofLost.has(data['payout_id']) && !unknownIds.has(id)),
      'a webhook about a payout that is gone is not listed by npm run delivery -- unknown',
    );
    this.verdict.none(
      unknown.filter(
        ({ payout_id }) => payout_id === null || !(ofLost.has(payout_id) || ofKnown.has(payout_id)),
      ),
      'a webhook that is listed is about no payout',
    );
    return unknown.length;
  }

  private async unreported(): Promise<readonly string[]> {
    const rows = await this.listed('payout', 'unreported', '--from-block', '0');
    return [...new Set(rows.map(({ transaction_hash }) => transaction_hash!))];
  }

  /** The rows that a program prints, without its sum. */
  private async listed(program: string, ...args: string[]): Promise<readonly Row[]> {
    const { rpcUrl, usdcAddress } = await this.shared.chain();
    const env = {
      DATABASE_URL: this.shared.databaseUrl,
      CHAIN_RPC_URL: rpcUrl,
      USDC_ADDRESS: usdcAddress,
    };
    const { printed } = await invoke(program, env, ...args, '--json');
    return printed
      .trimEnd()
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Row);
  }
}

interface Report {
  readonly user_id: string;
  readonly payout: { readonly amount: string; readonly transaction_hash: string };
}

interface Row {
  readonly transaction_hash?: string;
  readonly webhook_id?: string;
  readonly payout_id?: string | null;
}

function transactionOf({ request }: Acknowledged): string {
  return (JSON.parse(request) as Report).payout.transaction_hash;
}
