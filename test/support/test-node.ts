import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface RpcCall {
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
}

/** What to answer to one call instead of the chain: `result`, or `error`. Undefined: what the chain says. */
export type Tampering = (
  call: RpcCall,
) => { readonly result: unknown } | { readonly error: object } | undefined;

/** A JSON-RPC node in front of a dev chain, which can be away, slow, or a liar. */
export class TestNode {
  /** Every method that was asked, in order. */
  readonly calls: string[] = [];
  /** How many requests came; a batch is one. */
  requests = 0;
  private away = false;
  private raw: string | null = null;
  private tampering: Tampering = () => undefined;

  private constructor(
    private readonly server: Server,
    private readonly chainUrl: string,
  ) {}

  static async start(chainUrl: string): Promise<TestNode> {
    const server = createServer();
    const node = new TestNode(server, chainUrl);
    server.on('request', (request, response) => void node.answer(request, response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return node;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Cuts every connection without an answer, until {@link comeBack}. */
  goAway(): void {
    this.away = true;
    this.server.closeAllConnections();
  }

  /** Answers every request with this text. */
  answerAll(body: string): void {
    this.raw = body;
  }

  tamper(tampering: Tampering): void {
    this.tampering = tampering;
  }

  /** An honest node again. */
  comeBack(): void {
    this.away = false;
    this.raw = null;
    this.tampering = () => undefined;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.requests += 1;
    if (this.away) return void request.socket.destroy();
    const asked = JSON.parse(await text(request)) as RpcCall | RpcCall[];
    for (const { method } of [asked].flat()) this.calls.push(method);
    const answer = this.raw ?? JSON.stringify(await this.answersTo(asked));
    response.setHeader('content-type', 'application/json');
    response.end(answer);
  }

  private async answersTo(asked: RpcCall | RpcCall[]): Promise<unknown> {
    const honest = await fetch(this.chainUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(asked),
    });
    const answers = [(await honest.json()) as { id: number }].flat();
    const tampered = [asked].flat().map((call) => {
      const lie = this.tampering(call);
      if (lie !== undefined) return { jsonrpc: '2.0', id: call.id, ...lie };
      return answers.find(({ id }) => id === call.id);
    });
    return Array.isArray(asked) ? tampered : tampered[0];
  }
}
