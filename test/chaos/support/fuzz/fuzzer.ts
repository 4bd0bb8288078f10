import { Pool } from 'undici';
import { Tally } from '../verdict.js';
import { Random } from '../random.js';
import { brokenHttp, speak } from './broken-http.js';
import { apiRequest, widgetRequest, type FuzzedRequest } from './requests.js';
import { faultOf, responsesIn } from './responses.js';
import type { World } from './world.js';

/** Longer than the service's timeout for a request, and than the check of that may be late. */
const BOUND_MS = 60_000;
/** Other addresses than that of the honest merchant, who is not limited with these. */
const ADDRESSES = ['127.0.0.1', '127.0.0.3', '127.0.0.4', '127.0.0.5'];
const CONNECTIONS = 6;
const WIDGET_SHARE = 0.12;
const BROKEN_SHARE = 0.18;
const MAX_FAULTS = 20;

export interface Ports {
  readonly api: number;
  readonly widget: number;
}

/** Sends the requests of a seed, any number at once, and records what was wrong with a response. */
export class Fuzzer {
  readonly tally = new Tally();
  /** Each names the number of its request: `--seed S --only N` sends it again. */
  readonly faults: string[] = [];
  /** Requests that are HTTP, and whose connection was closed without a response. */
  cutOff = 0;
  private readonly pools: Readonly<Record<keyof Ports, readonly Pool[]>>;

  constructor(
    private readonly seed: number,
    private readonly ports: Ports,
    private readonly world: World,
  ) {
    const pool = (port: number) => (localAddress: string) =>
      new Pool(`http://127.0.0.1:${port}`, {
        connections: CONNECTIONS,
        connect: { localAddress },
        headersTimeout: BOUND_MS,
        bodyTimeout: BOUND_MS,
      });
    this.pools = { api: ADDRESSES.map(pool(ports.api)), widget: ADDRESSES.map(pool(ports.widget)) };
  }

  get gaveUp(): boolean {
    return this.faults.length >= MAX_FAULTS;
  }

  async send(index: number): Promise<void> {
    const random = new Random(this.seed, index);
    const kind = random.fraction();
    const from = index % ADDRESSES.length;
    if (kind < BROKEN_SHARE) await this.breakHttp(index, random, from);
    else if (kind < BROKEN_SHARE + WIDGET_SHARE)
      await this.exchange(index, widgetRequest(random, this.world), from);
    else await this.exchange(index, apiRequest(random, this.world), from);
  }

  async close(): Promise<void> {
    await Promise.all([...this.pools.api, ...this.pools.widget].map((pool) => pool.destroy()));
  }

  private async exchange(index: number, request: FuzzedRequest, from: number): Promise<void> {
    const { port, method, path, headers, body } = request;
    try {
      const reply = await this.pools[port][from]!.request({ method: method as 'GET', path, headers, body });
      const text = await reply.body.text();
      this.tally.add(`${port} ${reply.statusCode}`);
      const response = {
        status: reply.statusCode,
        headers: reply.headers,
        body: text,
        toHead: method === 'HEAD',
      };
      const fault = faultOf(response);
      if (fault !== null) this.found(index, fault, `${textOf(request)} -> ${text.slice(0, 300)}`);
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      this.tally.add(`${port} ${code ?? message}`);
      // It closes an idle connection just as it is used again, or responds before a body is there.
      if (['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'].includes(code ?? '')) this.cutOff += 1;
      else this.found(index, `${code} ${message}`, textOf(request));
    }
  }

  private async breakHttp(index: number, random: Random, from: number): Promise<void> {
    const script = brokenHttp(random, this.world);
    const { bytes, closedAfterMs } = await speak(script, this.ports[script.port], ADDRESSES[from]!, BOUND_MS);
    const { responses, rest } = responsesIn(bytes);
    const what = (): string =>
      `${script.port} ${script.name} ${JSON.stringify(Buffer.concat(script.writes).toString('latin1').slice(0, 600))}`;
    for (const { status } of responses) this.tally.add(`broken ${status}`);
    if (responses.length === 0) this.tally.add('broken closed');
    if (closedAfterMs === null) this.found(index, `a connection open after ${BOUND_MS} ms`, what());
    if (rest > 0 && responses.length === 0)
      this.found(
        index,
        'a response that is no HTTP',
        `${what()} -> ${bytes.toString('latin1').slice(0, 300)}`,
      );
    for (const response of responses) {
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
