import type { IncomingMessage, ServerResponse } from 'node:http';
import { LocalServer } from '../http/local-server.js';

/** The fault of one request, independent of its content. `done, then ...` loses the response. */
export type Fault =
  | 'reset'
  | 'hang'
  | 'done, then reset'
  | 'done, then hang'
  | { readonly status: number; readonly body: string; readonly headers?: Readonly<Record<string, string>> }
  | null;

export interface ProviderCall {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  readonly bytes: Buffer;
}

/** Status and body; null for no body. */
export type Response = readonly [number, Record<string, unknown> | null];

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
  faults: Fault[] = [];
  /** The fault of every later request. */
  always: Fault = null;
  /** Changes a response by the object and `METHOD path`. */
  lie: (reported: Record<string, unknown>, request: string) => unknown = (reported) => reported;
  /** Awaited before a request is read. */
  before: (request: string) => Promise<void> | void = () => undefined;
  /** The leading part of its paths, which `requests` and the others omit. */
  protected readonly base: string = '';
  private passed = 0;

  now(): number {
    return Date.now() + this.passed;
  }

  advance(ms: number): void {
    this.passed += ms;
  }

  recover(): void {
    this.faults = [];
    this.always = null;
    this.lie = (reported) => reported;
    this.before = () => undefined;
    this.requests.length = 0;
    this.passed = 0;
  }

  /** May throw a Refusal. */
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
    const fault = this.faults.shift() ?? this.always;
    if (fault === 'reset') response.destroy();
    else if (fault === 'hang') return;
    else if (typeof fault === 'object' && fault !== null)
      response.writeHead(fault.status, fault.headers).end(fault.body);
    else {
      const bytes = Buffer.concat(chunks);
      const call = { method, path, query, headers: request.headers, body: bytes.toString(), bytes };
      const [status, reported] = await this.evaluated(call);
      if (fault === 'done, then reset') response.destroy();
      else if (reported === null) response.writeHead(status).end();
      else if (fault !== 'done, then hang') {
        const changed = status < 400 ? this.lie(reported, name) : reported;
        const text = typeof changed === 'string' ? changed : JSON.stringify(changed);
        response.writeHead(status, { 'content-type': 'application/json' }).end(text);
      }
    }
  }

  private async evaluated(call: ProviderCall): Promise<Response> {
    try {
      return await this.respondTo(call);
    } catch (error) {
      if (error instanceof Refusal) return [error.status, error.body];
      throw error;
    }
  }
}
