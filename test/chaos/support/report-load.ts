import { randomUUID } from 'node:crypto';
import type { Credentials } from '../../../bench/support/sign.js';
import { eventually } from '../../../bench/support/wait.js';
import { randomHash } from '../../support/payouts/payout-calls.js';
import { keyed, REPORT, reportBody, type Payee } from './payouts.js';
import type { Line } from './line.js';
import { Senders } from './senders.js';
import { between, oneOf } from './suite.js';
import type { Treasury } from './treasury.js';
import type { Verdict } from './verdict.js';

/** The transfer of a report on the chain: one, none, or one that another report names too. */
type Backing = 'transfer' | 'nothing' | 'shared';

/** A request with a 201 in the records of its client. Times are on the clock of `performance.now()`. */
export interface Confirmed {
  readonly key: string;
  readonly path: string;
  readonly request: string;
  /** The body of the 201, byte for byte. */
  readonly response: string;
  readonly id: string;
  readonly beganAt: number;
  readonly confirmedAt: number;
}

export interface Acknowledged extends Confirmed {
  readonly backing: Backing;
  readonly attempts: number;
}

export interface LoadTarget {
  readonly port: number;
  readonly merchant: Credentials;
  readonly payees: readonly Payee[];
  readonly treasury: Treasury;
}

const GIVE_UP_MS = 120_000;
/** The order of acknowledgements differs from the order of starts by at most this many places. */
const MAX_CLIENTS = 64;

/** Merchants' clients that report payouts, each report under its own key. */
export class ReportLoad extends Senders {
  readonly acknowledged: Acknowledged[] = [];
  private readonly open = new Set<number>();

  constructor(
    private readonly target: LoadTarget,
    verdict: Verdict,
    pauseMs: number,
  ) {
    super(verdict, pauseMs, GIVE_UP_MS);
  }

  acknowledgedBegunAfter(instant: number): boolean {
    return this.acknowledged.slice(-MAX_CLIENTS).some(({ beganAt }) => beganAt > instant);
  }

  async acknowledgesAll(instant: number): Promise<void> {
    await eventually('each report has its final response', async () =>
      [...this.open].every((beganAt) => beganAt >= instant),
    );
  }

  /** Sends one report, or two that name one transfer. */
  protected override async round(client: number): Promise<void> {
    const line = this.lineOf(client, this.target.port);
    const chance = Math.random();
    const payee = oneOf(this.target.payees);
    const minor = Math.floor(between(1, 50_000_000));
    if (chance < 0.7) return this.report(line, reportBody(payee.id, minor, randomHash()), 'nothing');
    const hash = await this.target.treasury.transfer(payee.wallet, minor);
    const backing = chance < 0.95 ? 'transfer' : 'shared';
    await this.report(line, reportBody(payee.id, minor, hash), backing);
    if (backing === 'shared') await this.report(line, reportBody(payee.id, minor, hash), backing);
  }

  async report(line: Line, request: string, backing: Backing, key: string = randomUUID()): Promise<void> {
    const beganAt = performance.now();
    let attempts = 0;
    this.open.add(beganAt);
    const response = await this.untilFinal('report', [201], () => {
      attempts += 1;
      return line.send(keyed(this.target.merchant, REPORT.path, request, key));
    });
    this.open.delete(beganAt);
    if (response === null) return;
    const { payout } = JSON.parse(response.body) as { payout: { id: string } };
    const times = { beganAt, confirmedAt: performance.now() };
    const exchanged = { key, path: REPORT.path, request, response: response.body };
    this.acknowledged.push({ ...exchanged, id: payout.id, ...times, backing, attempts });
  }
}
