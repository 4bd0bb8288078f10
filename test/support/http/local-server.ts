import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A server on loopback in place of an external one. It can shut down and restart on the same port. */
export abstract class LocalServer {
  protected port = 0;
  private server: Server | null = null;

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  async restart(): Promise<void> {
    this.server = createServer((request, response) => void this.respond(request, response));
    this.server.listen(this.port, '127.0.0.1');
    await once(this.server, 'listening');
    this.port = (this.server.address() as AddressInfo).port;
  }

  async shutDown(): Promise<void> {
    const { server } = this;
    if (server === null) return;
    this.server = null;
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }

  protected disconnect(): void {
    this.server?.closeAllConnections();
  }

  protected abstract respond(request: IncomingMessage, response: ServerResponse): Promise<void>;
}
