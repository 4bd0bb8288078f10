import type { IncomingMessage, ServerResponse } from 'node:http';
import { isIP } from 'node:net';
import { Refused, ShiftBook } from './shift-book.js';
import { StandIn } from '../stand-in.js';

export const ACCOUNT = { sideshiftSecret: 'a-private-key', sideshiftAffiliateId: 'YQMi62XMb' };

/** What happens to one request, whatever is in it. `done, then ...` rehearses a response that is lost. */
export type Fault =
  | 'reset'
  | 'hang'
  | 'trickle'
  | 'huge'
  | 'done, then reset'
  | { readonly status: number; readonly body: string };

/** A local server that responds as SideShift documents version 2 of its API: https://docs.sideshift.ai */
export class SideShift extends StandIn {
  readonly book = new ShiftBook();
  /** `METHOD path` of each request. */
  readonly requests: string[] = [];
  /** What is wrong with the next requests, one after the other; then nothing. */
  faults: Fault[] = [];
  /** Changes what it says; the object as it would be, and the path that was asked. */
  lie: (told: Record<string, unknown>, path: string) => unknown = (told) => told;
  /** What it waits for before it looks at a request, by its path. */
  before: (path: string) => Promise<void> | void = () => undefined;
  /** Requests a minute and address of the end user; its documentation says 20 and 5. */
  limits = { '/quotes': Infinity, '/shifts/fixed': Infinity };
  demandsUserIp = false;
  deniedAddress: string | null = null;
  private readonly counts = new Map<string, number[]>();

  static async start(): Promise<SideShift> {
    const sideshift = new SideShift();
    await sideshift.comeBack();
    return sideshift;
  }

  get account() {
    return { ...ACCOUNT, sideshiftUrl: `http://127.0.0.1:${this.port}/api/v2` };
  }

  /** Sends so much to a deposit address, and lets it be confirmed and processed. */
  pay(shiftId: string, amount: string): void {
    this.book.process(shiftId, this.book.receive(shiftId, amount));
  }

  protected override async respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const url = new URL(request.url ?? '/', 'http://localhost');
    const path = url.pathname.replace(/^\/api\/v2/, '');
    this.requests.push(`${request.method} ${path}`);
    await this.before(path);
    const fault = this.faults.shift();
    if (fault === 'reset') response.destroy();
    else if (fault === 'hang') return;
    else if (fault === 'trickle') trickle(response);
    else if (fault === 'huge') response.writeHead(200).end(`{"id":"${'a'.repeat(1 << 20)}"}`);
    else if (typeof fault === 'object') response.writeHead(fault.status).end(fault.body);
    else {
      const [status, told] = this.judged(request, url, path, Buffer.concat(chunks));
      if (fault === 'done, then reset') response.destroy();
      else if (told === null) response.writeHead(status).end();
      else {
        const said = status < 400 ? this.lie(told, path) : told;
        const text = typeof said === 'string' ? said : JSON.stringify(said);
        response.writeHead(status, { 'content-type': 'application/json' }).end(text);
      }
    }
  }

  private judged(
    request: IncomingMessage,
    url: URL,
    path: string,
    bytes: Buffer,
  ): [number, Record<string, unknown> | null] {
    try {
      return this.handled(request, url, path, bytes);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      return [error.status, { error: { message: error.message, code: error.code } }];
    }
  }

  private handled(
    { method, headers }: IncomingMessage,
    url: URL,
    path: string,
    bytes: Buffer,
  ): [number, Record<string, unknown> | null] {
    const [, shiftId] = /^\/shifts\/([0-9a-f]+)$/.exec(path) ?? [];
    if (method === 'GET' && shiftId !== undefined) return [200, { ...this.book.shift(shiftId) }];
    if (headers['x-sideshift-secret'] !== ACCOUNT.sideshiftSecret)
      throw new Refused(404, 'Incorrect or missing "x-sideshift-secret" header', 'FORBIDDEN');
    if (method === 'GET' && path === '/account')
      return [200, { id: ACCOUNT.sideshiftAffiliateId, totalBalance: '0' }];
    const [, from, to] = /^\/pair\/([^/]+)\/([^/]+)$/.exec(path) ?? [];
    if (method === 'GET' && from !== undefined && to !== undefined) {
      const { affiliateId, amount } = Object.fromEntries(url.searchParams);
      requireAccount(affiliateId);
      return [200, { ...this.book.pair(from, to, amount ?? '500') }];
    }
    if (method !== 'POST') throw new Refused(404, 'Not found', 'NOT_FOUND');
    const body = JSON.parse(bytes.toString()) as Record<string, unknown>;
    if (path === '/cancel-order') {
      this.book.cancel(body['orderId']);
      return [204, null];
    }
    if (path !== '/quotes' && path !== '/shifts/fixed') throw new Refused(404, 'Not found', 'NOT_FOUND');
    this.requireCaller(headers['x-user-ip'], path);
    requireAccount(body['affiliateId']);
    return [201, { ...(path === '/quotes' ? this.book.quote(body) : this.book.open(body)) }];
  }

  private requireCaller(address: string | string[] | undefined, path: '/quotes' | '/shifts/fixed'): void {
    const isThere = typeof address === 'string';
    if ((this.demandsUserIp && !isThere) || (isThere && isIP(address) === 0))
      throw new Refused(400, 'The x-user-ip header must be set to the end-user IP address');
    if (isThere && address === this.deniedAddress)
      throw new Refused(403, 'Access denied. See https://sideshift.ai/access-denied', 'ACCESS_DENIED');
    const key = `${String(address)} ${path}`;
    const within = (this.counts.get(key) ?? []).filter((at) => at > this.book.now() - 60_000);
    this.counts.set(key, [...within, this.book.now()]);
    if (within.length >= this.limits[path]) throw new Refused(429, 'Rate limit exceeded', 'RATE_LIMIT');
  }
}

function requireAccount(affiliateId: unknown): void {
  if (affiliateId !== ACCOUNT.sideshiftAffiliateId) throw new Refused(400, 'Invalid "affiliateId"');
}

/** A byte now and then, for as long as anybody reads. */
function trickle(response: ServerResponse): void {
  response.writeHead(200);
  const timer = setInterval(() => response.write(' '), 50);
  response.on('close', () => clearInterval(timer));
}
