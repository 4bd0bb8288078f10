import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { LocalServer } from '../http/local-server.js';

export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** `performance.now()` when the body was complete. */
  readonly at: number;
}

type Behavior = (response: ServerResponse, received: Received) => void;

/** A local webhook receiver that records its requests, and returns 204 by default. */
export class TestReceiver extends LocalServer {
  readonly received: Received[] = [];
  /** The response, which may be replaced at any time. */
  behavior: Behavior = (response) => response.writeHead(204).end();

  static async start(): Promise<TestReceiver> {
    const receiver = new TestReceiver();
    await receiver.restart();
    return receiver;
  }

  /** Responds with these statuses in order, then with the last one. */
  respondWith(...statuses: number[]): void {
    let next = 0;
    this.behavior = (response) => response.writeHead(statuses[Math.min(next++, statuses.length - 1)]!).end();
  }

  stop(): Promise<void> {
    return this.shutDown();
  }

  protected override async respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { url: path = '/', headers } = request;
    const body = await text(request).catch(() => null);
    if (body === null) return;
    const received = { path, headers, body, at: performance.now() };
    this.received.push(received);
    this.behavior(response, received);
  }
}
