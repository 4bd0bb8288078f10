import { setTimeout as sleep } from 'node:timers/promises';
import { signed, type Credentials, type SignedRequest } from '../../../bench/support/sign.js';
import { REPORT } from './payouts.js';
import { Line } from './line.js';
import { Tally, type Verdict } from './verdict.js';

const CLIENTS = 4;
const PAUSE_MS = 60;

export interface Experience {
  readonly tookMs: readonly number[];
  readonly tally: Tally;
  readonly refused: readonly string[];
}

/** Sends reports and reads users and short lists for one merchant from a separate address, until stopped. */
export async function honestLoad(
  target: { readonly port: number; readonly merchant: Credentials; readonly userId: string },
  verdict: Verdict,
  isEnough: () => boolean,
): Promise<Experience> {
  const experience = { tookMs: [] as number[], tally: new Tally(), refused: [] as string[] };
  const client = async (): Promise<void> => {
    const line = new Line(target.port, verdict, '127.0.0.2');
    for (let n = 0; !isEnough(); n += 1) {
      const began = performance.now();
      const response = await line
        .send(request(target.merchant, target.userId, n))
        .catch((error: Error) => error);
      experience.tookMs.push(performance.now() - began);
      const name = response instanceof Error ? response.message : String(response.status);
      experience.tally.add(name);
      if (name !== '200' && name !== '201')
        experience.refused.push(response instanceof Error ? name : `${name} ${response.body.slice(0, 300)}`);
      await sleep(PAUSE_MS);
    }
    line.close();
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  return experience;
}

function request(who: Credentials, userId: string, n: number): SignedRequest {
  if (n % 2 === 0) return signed(who, 'POST', REPORT.path, REPORT.body(userId));
  return n % 4 === 1
    ? signed(who, 'GET', `/merchants/v1/users/${userId}`)
    : signed(who, 'GET', '/merchants/v1/payouts?page_size=20');
}
