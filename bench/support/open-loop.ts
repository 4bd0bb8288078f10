import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import type { SignedRequest } from './sign.js';

/** A response, with the seconds since the due time of its request. */
export interface Timed {
  readonly status: number;
  readonly seconds: number;
}

interface OpenLoop {
  /** Requests per second. */
  readonly rate: number;
  /** The maximum of connections. Further due requests are sent later, and their wait counts. */
  readonly connections: number;
}

const TICK_MS = 2;
const QUANTILES = [0.5, 0.9, 0.99, 0.999] as const;

/** Sends requests at a fixed rate even if the service lags; waits count. Throws when a connection breaks. */
export async function openLoop(
  baseUrl: string,
  requests: readonly SignedRequest[],
  { rate, connections }: OpenLoop,
): Promise<readonly Timed[]> {
  const pool = new Pool(baseUrl, { connections, pipelining: 1 });
  const start = performance.now();
  const send = async (index: number): Promise<Timed> => {
    const { headers, ...request } = requests[index]!;
    const { statusCode, body } = await pool.request({ ...request, headers: { ...headers } });
    await body.dump();
    return { status: statusCode, seconds: (performance.now() - start) / 1000 - index / rate };
  };
  const responses: Promise<Timed>[] = [];
  try {
    while (responses.length < requests.length) {
      const due = Math.ceil(((performance.now() - start) / 1000) * rate);
      while (responses.length < Math.min(due, requests.length)) {
        const sent = send(responses.length);
        // The last await throws it. Until then it must not be an unhandled rejection.
        sent.catch(() => undefined);
        responses.push(sent);
      }
      await sleep(TICK_MS);
    }
    return await Promise.all(responses);
  } finally {
    await pool.destroy();
  }
}

export function quantile(responses: readonly Timed[], q: number): number {
  const sorted = responses.map(({ seconds }) => seconds).sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? 0;
}

export function millis(what: string, responses: readonly Timed[]): string {
  const times = QUANTILES.map((q) => `p${q * 100} ${(quantile(responses, q) * 1000).toFixed(1)}`);
  return `${responses.length} ${what}${responses.length === 0 ? '' : `, ms ${times.join(', ')}`}`;
}
