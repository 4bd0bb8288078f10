import { once } from 'node:events';
import { request, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { LocalServer } from '../../../support/http/local-server.js';
import { Random } from '../random.js';
import { Tally } from '../verdict.js';

const KINDS = ['429', '503', '500', 'cut before', 'cut after', 'cut within', 'late', 'twice'] as const;
type Kind = (typeof KINDS)[number];

const FAULTY_SHARE = 0.5;
/** Longer than an attempt of the client. */
const LATE_MS = 2500;
const LATE_SHARE = 0.01;

interface Reply {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

/** A proxy in front of the service with the faults of networks and balancers. */
export class FaultyProxy extends LocalServer {
  readonly kinds = KINDS;
  readonly tally = new Tally();
  faults = 0;

  private constructor(
    private readonly target: URL,
    private readonly random: Random,
  ) {
    super();
  }

  static async start(target: string, seed: number): Promise<FaultyProxy> {
    const proxy = new FaultyProxy(new URL(target), new Random(seed, 1));
    await proxy.restart();
    return proxy;
  }

  stop(): Promise<void> {
    return this.shutDown();
  }

  protected override async respond(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    await this.pass(incoming, response).catch(() => response.destroy());
  }

  private async pass(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(incoming);
    const kind = this.next();
    if (kind !== null) {
      this.faults += 1;
      this.tally.add(kind);
    }
    if (kind === 'cut before') return void response.destroy();
    if (kind === '429' || kind === '503') {
      // Balancers respond without a problem document, and sometimes without Retry-After.
      const retryAfter = this.random.fraction() < 0.5 ? { 'retry-after': '0' } : {};
      return void response
        .writeHead(Number(kind), { 'content-type': 'text/html', ...retryAfter })
        .end('<p>busy');
    }
    if (kind === '500') return void response.writeHead(500).end();
    const reply = await this.forward(incoming, body);
    // A duplicated request. The first or the second response wins.
    const last = kind === 'twice' ? await this.forward(incoming, body) : reply;
    if (kind === 'late') await sleep(LATE_MS);
    if (kind === 'cut after') return void response.destroy();
    response.writeHead(last.status, { ...last.headers, connection: 'close' });
    if (kind !== 'cut within') return void response.end(last.body);
    response.write(last.body.subarray(0, Math.max(1, last.body.length >> 1)), () => response.destroy());
  }

  private async forward({ method, url, headers }: IncomingMessage, body: Buffer): Promise<Reply> {
    const { hostname, port } = this.target;
    const sent = request({ hostname, port, method, path: url, headers, agent: false });
    sent.end(body);
    const [reply] = (await once(sent, 'response')) as [IncomingMessage];
    const received = await buffer(reply);
    const { 'transfer-encoding': _, ...rest } = reply.headers;
    return {
      status: reply.statusCode!,
      headers: { ...rest, 'content-length': String(received.length) },
      body: received,
    };
  }

  private next(): Kind | null {
    if (this.random.fraction() > FAULTY_SHARE) return null;
    if (this.random.fraction() < LATE_SHARE) return 'late';
    const usual = KINDS.filter((kind) => kind !== 'late');
    return usual[Math.floor(this.random.fraction() * usual.length)]!;
  }
}
