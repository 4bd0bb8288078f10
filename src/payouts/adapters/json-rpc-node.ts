import { Pool } from 'undici';

/** What nodes take in one JSON-RPC batch. */
const BATCH_CALLS = 100;
/** Batches under way at a time; connections are kept. */
const CONNECTIONS = 4;
const TIMEOUT_MS = 10_000;

export interface RpcCall {
  readonly method: string;
  readonly params: readonly unknown[];
}

/** What the node said to one call; null when it refused it, said nothing that can be understood, or was away. */
export type RpcAnswer = { readonly result: unknown } | null;

/**
 * A JSON-RPC node behind a URL. Calls go in batches over kept connections: a tenth of what a general provider costs
 * per call, and pending payouts make very many of them.
 */
export class JsonRpcNode {
  private readonly pool: Pool;
  private readonly path: string;
  private readonly headers: Readonly<Record<string, string>>;

  constructor(url: string) {
    const { origin, pathname, search, username, password } = new URL(url);
    this.pool = new Pool(origin, {
      connections: CONNECTIONS,
      connect: { timeout: TIMEOUT_MS },
      headersTimeout: TIMEOUT_MS,
      bodyTimeout: TIMEOUT_MS,
    });
    this.path = `${pathname}${search}`;
    const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
    this.headers = {
      'content-type': 'application/json',
      ...(credentials === ':'
        ? {}
        : { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` }),
    };
  }

  /** One answer per call, in order. Never rejects. */
  async ask(calls: readonly RpcCall[]): Promise<readonly RpcAnswer[]> {
    const batches: Promise<readonly RpcAnswer[]>[] = [];
    for (let from = 0; from < calls.length; from += BATCH_CALLS) {
      batches.push(this.batch(calls.slice(from, from + BATCH_CALLS)));
    }
    return (await Promise.all(batches)).flat();
  }

  async close(): Promise<void> {
    await this.pool.destroy();
  }

  private async batch(calls: readonly RpcCall[]): Promise<readonly RpcAnswer[]> {
    const answers: RpcAnswer[] = calls.map(() => null);
    try {
      const { statusCode, body } = await this.pool.request({
        method: 'POST',
        path: this.path,
        headers: this.headers,
        body: JSON.stringify(calls.map((call, id) => ({ jsonrpc: '2.0', id, ...call }))),
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      if (statusCode !== 200) {
        await body.dump();
        return answers;
      }
      const said = await body.json();
      if (Array.isArray(said)) for (const each of said) place(each, answers);
    } catch {
      // Away, or no JSON: nothing was answered. The cause may hold the node's address, and with it a key.
    }
    return answers;
  }
}

/** Answers of a batch come in any order; what belongs to no call of it is passed by. */
function place(answer: unknown, answers: RpcAnswer[]): void {
  if (typeof answer !== 'object' || answer === null) return;
  const { id, result, error } = answer as { id?: unknown; result?: unknown; error?: unknown };
  if (typeof id !== 'number' || !(id in answers) || (error !== undefined && error !== null)) return;
  if (result !== undefined) answers[id] = { result };
}
