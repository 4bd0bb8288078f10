import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Credentials } from '../../../bench/support/sign.js';
import { keyed, randomHash, REPORT } from './operations.js';
import type { Payee, Treasury } from './payees.js';
import { RawConnection, type Outcome } from './raw-connection.js';
import { between, oneOf } from './suite.js';
import { Tally, type Verdict } from './verdict.js';

/** What the chain holds for a report: its own transfer, nothing, or a transfer that another report names too. */
export type Backing = 'transfer' | 'nothing' | 'shared';

export interface Acknowledged {
  readonly key: string;
  readonly request: string;
  readonly backing: Backing;
  /** The body of the 201, byte for byte. */
  readonly response: string;
  readonly payoutId: string;
  readonly attempts: number;
  /** On the clock of `performance.now()`. */
  readonly beganAt: number;
  readonly tookMs: number;
}

export interface LoadTarget {
  readonly port: number;
  readonly merchant: Credentials;
  readonly payees: readonly Payee[];
  readonly treasury: Treasury;
}

/** A single try may take this long before it counts as hung. */
const ATTEMPT_MS = 30_000;
/** A report that has no final response after this long is given up, which is a broken promise. */
const GIVE_UP_MS = 120_000;

/** A report begun later than another is acknowledged at most this many places before it. */
const CLIENTS_AT_MOST = 64;

interface Draft {
  readonly request: string;
  readonly backing: Backing;
}

/**
 * Merchants' clients that report payouts one after the other, each under a key of its own, and send the same report
 * again under its key until it has a final response, whatever breaks: what every careful client does.
 */
export class ReportLoad {
  readonly acknowledged: Acknowledged[] = [];
  /** Statuses, and why connections broke. */
  readonly tally = new Tally();
  private readonly clients: Promise<void>[] = [];
  private running = true;
  private abandoned = false;

  constructor(
    private readonly target: LoadTarget,
    private readonly verdict: Verdict,
    /** Each client pauses up to this long after a report. */
    private readonly pauseMs: number,
  ) {}

  start(clients: number): void {
    const failed = (error: Error): void => this.verdict.expect(false, 'a client goes on', error.message);
    for (let n = 0; n < clients; n += 1) this.clients.push(this.client().catch(failed));
  }

  /** No new reports; resolves when each one under way has its final response. */
  async stop(): Promise<void> {
    this.running = false;
    await Promise.all(this.clients);
  }

  /** Lets go of the reports under way too: the suite has failed and nothing will respond to them. */
  async abandon(): Promise<void> {
    this.abandoned = true;
    await this.stop();
  }

  /** Whether a report that was begun after `instant` has been acknowledged. */
  acknowledgedBegunAfter(instant: number): boolean {
    return this.acknowledged.slice(-CLIENTS_AT_MOST).some(({ beganAt }) => beganAt > instant);
  }

  private async client(): Promise<void> {
    const line = new Line(this.target.port);
    while (this.running) {
      for (const draft of await this.drafts()) await this.deliver(line, draft);
      await sleep(between(0, this.pauseMs));
    }
    line.close();
  }

  /** One report, or two that name one transfer. */
  private async drafts(): Promise<Draft[]> {
    const dice = Math.random();
    const payee = oneOf(this.target.payees);
    const minor = Math.floor(between(1, 50_000_000));
    if (dice < 0.7) return [{ request: body(payee, minor, randomHash()), backing: 'nothing' }];
    const hash = await this.target.treasury.transfer(payee.wallet, minor);
    const backing = dice < 0.95 ? 'transfer' : 'shared';
    const draft = { request: body(payee, minor, hash), backing } as const;
    return backing === 'transfer' ? [draft] : [draft, { ...draft, request: body(payee, minor, hash) }];
  }

  private async deliver(line: Line, { request, backing }: Draft): Promise<void> {
    const key = randomUUID();
    const beganAt = performance.now();
    for (let attempts = 1; ; attempts += 1) {
      const outcome = await line.send(() => keyed(this.target.merchant, REPORT.path, request, key));
      this.tally.add(outcome.kind === 'responded' ? String(outcome.status) : outcome.why);
      const tookMs = performance.now() - beganAt;
      if (outcome.kind === 'responded' && outcome.status === 201) {
        const { payout } = JSON.parse(outcome.body) as { payout: { id: string } };
        const response = outcome.body;
        this.acknowledged.push({
          key,
          request,
          backing,
          response,
          payoutId: payout.id,
          attempts,
          beganAt,
          tookMs,
        });
        return;
      }
      if (outcome.kind === 'responded' && ![409, 503].includes(outcome.status)) {
        this.verdict.expect(false, `a report got ${outcome.status}`, outcome.body);
        if (outcome.status < 500) return;
      }
      if (outcome.kind === 'cut_off' && outcome.why === 'timeout') {
        this.verdict.expect(false, `a report hung for ${ATTEMPT_MS / 1000} s`);
      }
      if (this.abandoned) return;
      if (tookMs > GIVE_UP_MS) {
        this.verdict.expect(false, `a report has no final response after ${GIVE_UP_MS / 1000} s`);
        return;
      }
      await sleep(between(10, 100));
    }
  }
}

function body(payee: Payee, minor: number, hash: string): string {
  const amount = `${Math.floor(minor / 1_000_000)}.${String(minor % 1_000_000).padStart(6, '0')}`;
  const metadata = { invoice: randomUUID() };
  return JSON.stringify({
    user_id: payee.id,
    payout: { amount, transaction_hash: hash, custom_metadata: metadata },
  });
}

/** A client's connection, opened anew when it broke. */
export class Line {
  private connection: RawConnection | null = null;

  constructor(
    private readonly port: number,
    private readonly localAddress?: string,
  ) {}

  async send(request: () => ReturnType<typeof keyed>): Promise<Outcome> {
    try {
      if (this.connection === null || !this.connection.usable) {
        this.connection?.close();
        this.connection = await RawConnection.open(this.port, this.localAddress);
      }
    } catch (error) {
      return { kind: 'cut_off', received: 0, why: (error as NodeJS.ErrnoException).code ?? 'refused' };
    }
    return this.connection.exchange(request(), ATTEMPT_MS);
  }

  close(): void {
    this.connection?.close();
  }
}
