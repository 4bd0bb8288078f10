import { randomUUID } from 'node:crypto';
import type { Credentials } from '../../../../bench/support/sign.js';
import { Line } from '../line.js';
import { CREATE_USER, keyed } from '../payouts.js';
import { Senders } from '../senders.js';
import type { Verdict } from '../verdict.js';
import type { Confirmed } from './confirmed.js';

const GIVE_UP_MS = 120_000;
const PAUSE_MS = 800;

/** A merchant's client that creates users, each under its own key. */
export class UserLoad extends Senders {
  readonly confirmed: Confirmed[] = [];
  private readonly line: Line;

  constructor(
    private readonly merchant: Credentials,
    port: number,
    verdict: Verdict,
  ) {
    super(verdict, PAUSE_MS, GIVE_UP_MS);
    this.line = new Line(port, verdict);
  }

  override async stop(): Promise<void> {
    await super.stop();
    this.line.close();
  }

  protected override async round(): Promise<void> {
    const [key, { path }, request] = [randomUUID(), CREATE_USER, CREATE_USER.body('')];
    const beganAt = performance.now();
    const response = await this.untilFinal('user', [201], () =>
      this.line.send(keyed(this.merchant, path, request, key)),
    );
    if (response === null) return;
    const { user } = JSON.parse(response.body) as { user: { id: string } };
    const confirmedAt = performance.now();
    this.confirmed.push({ key, path, request, response: response.body, id: user.id, beganAt, confirmedAt });
  }
}
