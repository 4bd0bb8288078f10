import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { text } from 'node:stream/consumers';
import { LocalServer } from '../http/local-server.js';

export interface RpcCall {
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
}

/** Returns `result` or `error` to replace the chain's response to one call, or undefined to keep it. */
export type Tampering = (
  call: RpcCall,
  honest: { readonly result?: unknown },
) => { readonly result: unknown } | { readonly error: object } | undefined;

/** Handles a request before the chain. Returns true if the request has its response, or gets none. */
type Interception = (calls: readonly RpcCall[], response: ServerResponse) => boolean | Promise<boolean>;
type Responses = readonly object[];

/** A JSON-RPC node in front of a dev chain, which can be down, slow, or a liar. */
export class TestNode extends LocalServer {
  readonly calls: string[] = [];
  /** The number of requests. A batch counts as one. */
  requests = 0;
  private intercept: Interception = () => false;
  private tampering: Tampering = () => undefined;
  private rewriting: (responses: Responses) => Responses = (responses) => responses;
  private replacing: (body: string) => string = (body) => body;

  private constructor(private readonly chainUrl: string) {
    super();
  }

  static async start(chainUrl: string): Promise<TestNode> {
    const node = new TestNode(chainUrl);
    await node.restart();
    return node;
  }

  /** Cuts every connection without a response, until `comeBack`. */
  goDown(): void {
    this.cutFor(() => true);
    this.disconnect();
  }

  respondToAll(body: string, status = 200, headers: Readonly<Record<string, string>> = {}): void {
    this.intercept = (_calls, response) => {
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
      return true;
    };
  }

  tamper(tampering: Tampering): void {
    this.tampering = tampering;
  }

  /** Ends the chain at the present block for every client of the node. */
  async freeze(): Promise<void> {
    const last = (await this.honest('eth_getBlockByNumber', ['latest', false])) as { number: string };
    const later = (value: unknown): boolean => Number(value) > Number(last.number);
    this.tamper(({ method, params }, { result }) => {
      if (method === 'eth_blockNumber') return { result: last.number };
      if (method === 'eth_getBlockByNumber') {
        if (params[0] === 'latest') return { result: last };
        return later(params[0]) ? { result: null } : undefined;
      }
      const block = (result as { blockNumber?: unknown } | null)?.blockNumber;
      return block !== undefined && later(block) ? { result: null } : undefined;
    });
  }

  /** Cuts the connection of every request with such a call. */
  cutFor(applies: (call: RpcCall) => boolean): void {
    this.intercept = (calls, response) => calls.some(applies) && !!response.socket?.destroy();
  }

  /** Responds to every request with such a call with this status. */
  refuseFor(applies: (call: RpcCall) => boolean, status: number): void {
    this.intercept = (calls, response) => calls.some(applies) && !!response.writeHead(status).end();
  }

  delayFor(applies: (call: RpcCall) => boolean, ms: number): void {
    this.intercept = async (calls) => {
      if (calls.some(applies)) await sleep(ms);
      return false;
    };
  }

  /** Responds to every request with an endless text. */
  neverEnd(): void {
    this.intercept = (_calls, response) => {
      const more = (): void => {
        while (!response.destroyed && response.write(' '.repeat(65_536)));
      };
      response.on('drain', more).on('error', () => undefined);
      more();
      return true;
    };
  }

  rewrite(rewriting: (responses: Responses) => Responses): void {
    this.rewriting = rewriting;
  }

  replaceText(before: string, after: string): void {
    this.replacing = (body) => body.replace(before, () => after);
  }

  comeBack(): void {
    this.intercept = () => false;
    this.tampering = () => undefined;
    this.rewriting = (responses) => responses;
    this.replacing = (body) => body;
  }

  stop(): Promise<void> {
    return this.shutDown();
  }

  protected override async respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.requests += 1;
    const calls = JSON.parse(await text(request)) as RpcCall | RpcCall[];
    for (const { method } of [calls].flat()) this.calls.push(method);
    if (await this.intercept([calls].flat(), response)) return;
    response.setHeader('content-type', 'application/json');
    response.end(this.replacing(JSON.stringify(await this.responsesTo(calls))));
  }

  private async honest(method: string, params: readonly unknown[]): Promise<unknown> {
    const { result } = (await this.responsesTo({ ...{ jsonrpc: '2.0' }, id: 1, method, params })) as {
      result?: unknown;
    };
    return result;
  }

  private async responsesTo(calls: RpcCall | RpcCall[]): Promise<unknown> {
    const honest = await fetch(this.chainUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(calls),
    });
    const responses = [(await honest.json()) as { id: number }].flat();
    const tampered = [calls].flat().map((call) => {
      const truth = responses.find(({ id }) => id === call.id) ?? {};
      const lie = this.tampering(call, truth);
      return lie === undefined ? truth : { jsonrpc: '2.0', id: call.id, ...lie };
    });
    return Array.isArray(calls) ? this.rewriting(tampered) : tampered[0];
  }
}
