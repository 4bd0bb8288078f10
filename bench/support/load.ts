import autocannon from 'autocannon';
import type { SignedRequest } from './sign.js';

interface LoadResult {
  /** From the first request sent to the last response. */
  readonly seconds: number;
  /** The number of responses by status. */
  readonly statuses: Readonly<Record<string, number>>;
  /** Lost connections, timeouts and repeated requests: the run is valid with 0 alone. */
  readonly troubles: number;
}

/**
 * Sends each request once over `connections` keep-alive connections, one at a time on each. The requests are serialized
 * before the clock starts. `requests` is a multiple of `connections`.
 */
export async function load(
  baseUrl: string,
  requests: readonly SignedRequest[],
  connections: number,
): Promise<LoadResult> {
  const each = requests.length / connections;
  if (!Number.isInteger(each)) throw new Error('the requests do not divide by the connections');
  const statuses: Record<string, number> = {};
  let next = 0;
  let first = 0;
  let last = 0;
  const result = await new Promise<autocannon.Result>((resolve, reject) => {
    const instance = autocannon(
      { url: baseUrl, connections, amount: requests.length, timeout: 30, setupClient },
      (error: Error | null, done) => (error === null ? resolve(done) : reject(error)),
    );
    instance.once('start', () => (first = performance.now()));
  });
  return {
    seconds: (last - first) / 1000,
    statuses,
    troubles: result.errors + result.timeouts + result.mismatches + result.resets,
  };

  function setupClient(client: autocannon.Client): void {
    const slice = requests.slice(next * each, (next + 1) * each);
    next += 1;
    client.setRequests(
      slice.map(({ method, path, headers, body }) => ({ method, path, headers: { ...headers }, body })),
    );
    client.on('response', (status) => {
      statuses[status] = (statuses[status] ?? 0) + 1;
      last = performance.now();
    });
  }
}
