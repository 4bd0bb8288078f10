import fc, { type Arbitrary } from 'fast-check';
import { Pool } from 'undici';
import { Tally } from '../verdict.js';
import { brokenHttp, speak, type BrokenHttp } from './broken-http.js';
import type { FuzzedRequest } from './parts.js';
import { faultOf, responsesIn, type Response } from './responses.js';

/** Longer than the service's request timeout with its periodic check. */
const BOUND_MS = 60_000;
/** The honest merchant uses another address, which these do not limit. */
const ADDRESSES = ['127.0.0.1', '127.0.0.3', '127.0.0.4', '127.0.0.5'];
const CONNECTIONS = 6;
const MAX_FAULTS = 20;

export interface Target {
  readonly ports: Readonly<Record<string, number>>;
  readonly requests: Arbitrary<FuzzedRequest>;
  readonly broken: { readonly of: Arbitrary<FuzzedRequest>; readonly percent: number };
  readonly complete?: (request: FuzzedRequest) => FuzzedRequest;
  /** Returns the fault of a response beyond its form, or null. */
  readonly evaluate?: (request: FuzzedRequest, response: Response) => string | null;
}

/** Sends the requests of a seed, several at once, and records faulty responses. */
export class Fuzzer {
  readonly tally = new Tally();
  /** Each fault has the number of its request, which `--seed S --only N` repeats. */
  readonly faults: string[] = [];
  /** Valid HTTP requests whose connection was closed without a response. */
  cutOff = 0;
  private readonly pools: ReadonlyMap<string, readonly Pool[]>;
  private readonly all: Arbitrary<FuzzedRequest | BrokenHttp>;

  constructor(
    private readonly seed: number,
    private readonly target: Target,
  ) {
    const pool = (port: number) => (localAddress: string) =>
      new Pool(`http://127.0.0.1:${port}`, {
        connections: CONNECTIONS,
        connect: { localAddress },
        headersTimeout: BOUND_MS,
        bodyTimeout: BOUND_MS,
      });
    const { requests, broken } = target;
    this.all = fc.oneof(
      { weight: 100 - broken.percent, arbitrary: requests },
      { weight: broken.percent, arbitrary: brokenHttp(broken.of) },
    );
    this.pools = new Map(
      Object.entries(target.ports).map(([name, port]) => [name, ADDRESSES.map(pool(port))]),
    );
  }

  get gaveUp(): boolean {
    return this.faults.length >= MAX_FAULTS;
  }

  async send(index: number): Promise<void> {
    const [each] = fc.sample(this.all, { seed: Math.imul(this.seed, 31) + index, numRuns: 1 });
    const from = index % ADDRESSES.length;
    if ('writes' in each!) await this.breakHttp(index, each, from);
    else await this.exchange(index, each!, from);
  }

  async close(): Promise<void> {
    await Promise.all([...this.pools.values()].flat().map((pool) => pool.destroy()));
  }

  private async exchange(index: number, drawn: FuzzedRequest, from: number): Promise<void> {
    const request = this.target.complete?.(drawn) ?? drawn;
    const { port, method, path, headers, body } = request;
    try {
      const pool = this.pools.get(port)![from]!;
      const reply = await pool.request({ method: method as 'GET', path, headers, body });
      const text = await reply.body.text();
      this.tally.add(`${port} ${reply.statusCode}`);
      const response = {
        status: reply.statusCode,
        headers: reply.headers,
        body: text,
        toHead: method === 'HEAD',
      };
      const fault = faultOf(response) ?? this.target.evaluate?.(request, response) ?? null;
      if (fault !== null) this.found(index, fault, `${textOf(request)} -> ${text.slice(0, 300)}`);
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      this.tally.add(`${port} ${code ?? message}`);
      // An idle connection was closed on reuse, or the response came before the body ended.
      if (['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'].includes(code ?? '')) this.cutOff += 1;
      else this.found(index, `${code} ${message}`, textOf(request));
    }
  }

  private async breakHttp(index: number, script: BrokenHttp, from: number): Promise<void> {
    const { bytes, closedAfterMs } = await speak(
      script,
      this.target.ports[script.port]!,
      ADDRESSES[from]!,
      BOUND_MS,
    );
    const responses = responsesIn(bytes);
    const what = (): string =>
      `${script.port} ${script.name} ${JSON.stringify(Buffer.concat(script.writes).toString('latin1').slice(0, 600))}`;
    for (const { status } of responses ?? []) this.tally.add(`broken ${status}`);
    if (bytes.length === 0) this.tally.add('broken closed');
    if (closedAfterMs === null) this.found(index, `a connection open after ${BOUND_MS} ms`, what());
    if (responses === null)
      this.found(
        index,
        'a response that is no HTTP',
        `${what()} -> ${bytes.toString('latin1').slice(0, 300)}`,
      );
    for (const response of responses ?? []) {
      const fault = faultOf(response);
      if (fault !== null) this.found(index, fault, `${what()} -> ${response.body.slice(0, 300)}`);
    }
  }

  private found(index: number, fault: string, evidence: string): void {
    if (!this.gaveUp) this.faults.push(`--seed ${this.seed} --only ${index}: ${fault}: ${evidence}`);
  }
}

function textOf({ port, method, path, headers, body }: FuzzedRequest): string {
  return `${port} ${method} ${path.slice(0, 300)} ${JSON.stringify(headers).slice(0, 500)} ${JSON.stringify(body?.toString('latin1').slice(0, 600) ?? null)}`;
}
