import { randomUUID } from 'node:crypto';
import { Line, type Outcome } from '../line.js';
import { keyed, randomHash, REPORT, reportBody } from '../payouts.js';
import type { ServiceProcess } from '../service-process.js';
import type { Struck } from '../storm.js';
import { oneOf, seconds } from '../suite.js';
import type { Verdict } from '../verdict.js';

const CLIENTS = 4;

interface Sent {
  readonly key: string;
  readonly request: string;
  readonly outcome: Outcome;
  readonly tookMs: number;
}

function resultOf(outcome: Outcome): string {
  return outcome.kind === 'responded' ? String(outcome.status) : outcome.why;
}

/** A service process that is connected to a server directly, without the proxy, and misses promotions. */
export class Stray {
  private sent: readonly Sent[] = [];

  private constructor(
    private readonly process: ServiceProcess,
    private readonly struck: Struck,
    private readonly verdict: Verdict,
  ) {}

  static async start(struck: Struck, url: string, verdict: Verdict): Promise<Stray> {
    const env = { ...struck.env, ROLES: 'api', DATABASE_URL: url };
    // Once `sandbox.json` exists, the process writes only what clients request.
    const started = await struck.shared.service(`stray-${randomUUID()}`, env);
    return new Stray(started, struck, verdict);
  }

  async result(): Promise<string> {
    const each = this.sent.map(({ outcome, tookMs }) => `${resultOf(outcome)} after ${seconds(tookMs)}`);
    this.verdict.equal(this.process.exited(), null, 'a process connected to the former primary lives');
    return `a process connected to it responded ${each.join(', ')}, its readiness is ${await this.readiness()}`;
  }

  /** Returns whether a proxy in front of it would send it requests. */
  async readiness(): Promise<string> {
    const line = new Line(this.process.port, this.verdict);
    const request = { method: 'GET' as const, path: '/health/ready', headers: {}, body: '' };
    const outcome = await line.exchange(request);
    line.close();
    return resultOf(outcome);
  }

  /** Reports after the promotion: none is acknowledged. */
  async report(): Promise<void> {
    const { merchant, payees } = this.struck.target;
    const send = async (): Promise<Sent> => {
      const line = new Line(this.process.port, this.verdict);
      const [key, request] = [randomUUID(), reportBody(oneOf(payees).id, 1_000_000, randomHash())];
      const began = performance.now();
      const outcome = await line.exchange(keyed(merchant, REPORT.path, request, key));
      line.close();
      return { key, request, outcome, tookMs: performance.now() - began };
    };
    this.sent = await Promise.all(Array.from({ length: CLIENTS }, send));
    for (const { outcome } of this.sent)
      this.verdict.expect(
        outcome.kind === 'responded' && outcome.status === 503,
        'a process connected to the former primary responds 503 to a write',
        outcome,
      );
  }

  /** Clients repeat them at a process that is connected to the new primary. */
  async repeat(): Promise<void> {
    const line = new Line(this.struck.target.port, this.verdict);
    for (const { request, key } of this.sent) await this.struck.load.report(line, request, 'nothing', key);
    line.close();
  }

  async kill(): Promise<void> {
    if (this.process.runs) await this.process.kill();
  }
}
