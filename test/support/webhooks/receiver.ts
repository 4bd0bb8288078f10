import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One request as it came. */
export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** `performance.now()` when the body was complete. */
  readonly at: number;
}

type Behavior = (response: ServerResponse, received: Received) => void;

/** A local webhook receiver that records what it gets, and returns 204 by default. */
export class TestReceiver {
  readonly received: Received[] = [];
  /** How it responds; may be replaced at any time. */
  behavior: Behavior = (response) => response.writeHead(204).end();

  private constructor(private readonly server: Server) {}

  static async start(): Promise<TestReceiver> {
    const server = createServer();
    const receiver = new TestReceiver(server);
    server.on('request', (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const { url = '/', headers } = request;
        const received = {
          path: url,
          headers,
          body: Buffer.concat(chunks).toString('utf8'),
          at: performance.now(),
        };
        receiver.received.push(received);
        receiver.behavior(response, received);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Responds with these statuses one after the other, then with the last one. */
  respondWith(...statuses: number[]): void {
    let next = 0;
    this.behavior = (response) => response.writeHead(statuses[Math.min(next++, statuses.length - 1)]!).end();
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}
