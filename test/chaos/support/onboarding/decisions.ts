import { setTimeout as sleep } from 'node:timers/promises';
import type { Onfido } from '../../../support/onboarding/onfido/onfido.js';
import type { Check } from '../../../support/onboarding/onfido/records.js';
import type { ServiceProcess } from '../service-process.js';
import { between, oneOf } from '../suite.js';
import { Tally } from '../verdict.js';

/** When the webhook of a decision comes. Early ones precede the decision. */
const WEBHOOKS = ['once', 'once', 'twice', 'late', 'early', 'never'] as const;
const ATTEMPT_MS = 10_000;

/** Onfido's side: each check is decided after a while, and its webhook comes once, twice, late, early or never. */
export class Decisions {
  readonly tally = new Tally();
  private readonly seen = new Set<string>();
  private readonly pending = new Set<Promise<void>>();
  private running = true;
  private readonly work: Promise<void>;

  constructor(
    private readonly onfido: Onfido,
    private readonly targets: () => readonly ServiceProcess[],
    private readonly maxMs: number,
  ) {
    this.work = this.watch();
  }

  async stop(): Promise<void> {
    this.running = false;
    await this.work;
    await Promise.all(this.pending);
  }

  private async watch(): Promise<void> {
    while (this.running) {
      for (const check of this.onfido.records.checks.filter(({ id }) => !this.seen.has(id))) {
        this.seen.add(check.id);
        const decided = this.decide(check).finally(() => this.pending.delete(decided));
        this.pending.add(decided);
      }
      await sleep(50);
    }
  }

  private async decide(check: Check): Promise<void> {
    const how = oneOf(WEBHOOKS);
    if (how === 'early') await this.send(check.id);
    await sleep(between(0, 3000));
    this.onfido.complete(check, 'clear');
    if (how === 'late') await sleep(between(0, Math.min(20_000, this.maxMs)));
    this.tally.add(how);
    const webhook = this.onfido.webhook(check.id);
    if (how === 'twice') await Promise.all([this.send(check.id, webhook), this.send(check.id, webhook)]);
    else if (how !== 'never') await this.send(check.id, webhook);
  }

  /** Sends to any process, without a retry. */
  private async send(id: string, { headers, body } = this.onfido.webhook(id)): Promise<void> {
    const url = `${oneOf(this.targets()).widgetUrl}/callbacks/identity/onfido`;
    const signal = AbortSignal.timeout(ATTEMPT_MS);
    await fetch(url, { method: 'POST', headers, body: new Uint8Array(body), signal }).then(
      ({ status }) => this.tally.add(`webhook ${status}`),
      () => this.tally.add('webhook without response'),
    );
  }
}
