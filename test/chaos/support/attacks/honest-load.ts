import { setTimeout as sleep } from 'node:timers/promises';
import { signed, type Credentials, type SignedRequest } from '../../../../bench/support/sign.js';
import { REPORT } from '../operations.js';
import { Line } from '../report-load.js';
import { Tally } from '../verdict.js';

const PAUSE_MS = 60;

/** What a merchant that means no harm got. */
export interface Experience {
  readonly tookMs: readonly number[];
  /** Statuses, and why connections broke. */
  readonly tally: Tally;
  readonly refused: readonly string[];
}

/** Four clients of one merchant, from an address of its own: reports, single payouts and short lists by turns. */
export async function honestLoad(
  port: number,
  who: Credentials,
  userId: string,
  forSeconds: number,
): Promise<Experience> {
  const experience = { tookMs: [] as number[], tally: new Tally(), refused: [] as string[] };
  const until = performance.now() + forSeconds * 1000;
  const client = async (): Promise<void> => {
    const line = new Line(port, '127.0.0.2');
    for (let turn = 0; performance.now() < until; turn += 1) {
      const began = performance.now();
      const outcome = await line.send(() => request(who, userId, turn));
      experience.tookMs.push(performance.now() - began);
      const name = outcome.kind === 'responded' ? String(outcome.status) : outcome.why;
      experience.tally.add(name);
      if (name !== '200' && name !== '201') experience.refused.push(JSON.stringify(outcome).slice(0, 300));
      await sleep(PAUSE_MS);
    }
    line.close();
  };
  await Promise.all([client(), client(), client(), client()]);
  return experience;
}

function request(who: Credentials, userId: string, turn: number): SignedRequest {
  if (turn % 2 === 0) return signed(who, 'POST', REPORT.path, REPORT.body(userId));
  return turn % 4 === 1
    ? signed(who, 'GET', `/merchants/v1/users/${userId}`)
    : signed(who, 'GET', '/merchants/v1/payouts?page_size=20');
}
