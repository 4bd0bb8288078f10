import autocannon from 'autocannon';
import { expectEqual } from '../harness/row.js';
import type { SignedRequest } from './sign.js';

/**
 * Sends each request once over `connections` keep-alive connections, one at a time on each. The requests are
 * serialized before the clock starts. Their number is a multiple of `connections`. Returns the seconds from
 * the first request to the last response. Throws on any other status, a lost connection, a timeout or a
 * repeated request.
 */
export async function load(
  baseUrl: string,
  requests: readonly SignedRequest[],
  connections: number,
  status = 201,
): Promise<number> {
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
  expectEqual('responses', statuses, { [status]: requests.length });
  const troubles = result.errors + result.timeouts + result.mismatches + result.resets;
  expectEqual('lost connections, timeouts and repeats', troubles, 0);
  return (last - first) / 1000;

  function setupClient(client: autocannon.Client): void {
    const slice = requests.slice(next * each, (next + 1) * each);
    next += 1;
    client.setRequests(
      slice.map(({ method, path, headers, body }) => ({ method, path, headers: { ...headers }, body })),
    );
    client.on('response', (code) => {
      statuses[code] = (statuses[code] ?? 0) + 1;
      last = performance.now();
    });
  }
}
