import type { IncomingMessage, ServerResponse } from 'node:http';
import { LocalServer } from '../http/local-server.js';

/** What happens to one request, independent of its content. `done, then ...` rehearses a response that is lost. */
export type Fault =
  | 'reset'
  | 'hang'
  | 'trickle'
  | 'huge'
  | 'done, then reset'
  | 'done, then hang'
  | { readonly status: number; readonly body: string }
  /** Nothing. */
  | null;

export interface ProviderCall {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  readonly bytes: Buffer;
}

/** A status and a body; null: no body. */
export type Response = readonly [number, Record<string, unknown> | null];

/** The refusal of a request, with the status and the body of the response. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    readonly body: Record<string, unknown>,
  ) {
    super(JSON.stringify(body));
  }
}

/** A local server in place of a provider, which may be down, slow, broken or lying. */
export abstract class ProviderServer extends LocalServer {
  /** `METHOD path` of each request. */
  readonly requests: string[] = [];
  /** What is wrong with the next requests, one after the other; then nothing. */
  faults: Fault[] = [];
  /** Changes what it says; the object as it would be, and `METHOD path`. */
  lie: (reported: Record<string, unknown>, request: string) => unknown = (reported) => reported;
  /** What it waits for before it reads a request. */
  before: (request: string) => Promise<void> | void = () => undefined;
  /** Leading part of its paths that {@link requests} and the others leave out. */
  protected readonly base: string = '';
  private passed = 0;

  now(): number {
    return Date.now() + this.passed;
  }

  /** Lets its clock continue. */
  advance(ms: number): void {
    this.passed += ms;
  }

  /** For the next test. */
  recover(): void {
    this.faults = [];
    this.lie = (reported) => reported;
    this.before = () => undefined;
    this.requests.length = 0;
    this.passed = 0;
  }

  /** May throw a {@link Refusal}. */
  protected abstract respondTo(call: ProviderCall): Response | Promise<Response>;

  protected override async respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request) chunks.push(chunk as Buffer);
    } catch {
      return;
    }
    const { pathname, searchParams: query } = new URL(request.url ?? '/', 'http://localhost');
    const path = pathname.startsWith(this.base) ? pathname.slice(this.base.length) : pathname;
    const method = request.method ?? '';
    const name = `${method} ${path}`;
    this.requests.push(name);
    await this.before(name);
    const fault = this.faults.shift();
    if (fault === 'reset') response.destroy();
    else if (fault === 'hang') return;
    else if (fault === 'trickle') trickle(response);
    else if (fault === 'huge') flood(response);
    else if (typeof fault === 'object' && fault !== null) response.writeHead(fault.status).end(fault.body);
    else {
      const bytes = Buffer.concat(chunks);
      const call = { method, path, query, headers: request.headers, body: bytes.toString(), bytes };
      const [status, reported] = await this.accepted(call);
      if (fault === 'done, then reset') response.destroy();
      else if (reported === null) response.writeHead(status).end();
      else if (fault !== 'done, then hang') {
        const changed = status < 400 ? this.lie(reported, name) : reported;
        const text = typeof changed === 'string' ? changed : JSON.stringify(changed);
        response.writeHead(status, { 'content-type': 'application/json' }).end(text);
      }
    }
  }

  private async accepted(call: ProviderCall): Promise<Response> {
    try {
      return await this.respondTo(call);
    } catch (error) {
      if (error instanceof Refusal) return [error.status, error.body];
      throw error;
    }
  }
}

/** A byte now and then, for as long as anybody reads. */
function trickle(response: ServerResponse): void {
  response.writeHead(200);
  const timer = setInterval(() => response.write(' '), 50);
  response.on('close', () => clearInterval(timer));
}

/** A gigabyte, if anybody reads that much. */
function flood(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  const chunk = Buffer.alloc(1 << 16, 'a');
  let left = 1 << 14;
  const write = (): void => {
    while (left > 0 && !response.destroyed) {
      left -= 1;
      if (!response.write(chunk)) return void response.once('drain', write);
    }
    response.end();
  };
  write();
}
