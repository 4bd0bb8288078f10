import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CONNECTION_DEFAULTS, guardConnections } from '../http/connections.js';
import { collectNodeMetrics, registry, scrape } from './metrics.js';

/** Scrapers are few. */
const MOST_CONNECTIONS = 32;

/** GET /metrics on a listener of its own, so that the public port never shows it. */
export class MetricsServer {
  private server: Server | null = null;

  /** Listens, and resolves to the port. Rejects when the port is taken. */
  async listen(port: number, host: string): Promise<number> {
    collectNodeMetrics();
    const server = createServer((request, response) => {
      if (request.method !== 'GET' || request.url?.split('?')[0] !== '/metrics') {
        response.writeHead(404).end();
        return;
      }
      scrape().then(
        (text) => response.writeHead(200, { 'content-type': registry.contentType }).end(text),
        () => response.writeHead(500).end(),
      );
    });
    guardConnections(server, {
      ...CONNECTION_DEFAULTS,
      most: MOST_CONNECTIONS,
      mostPerAddress: MOST_CONNECTIONS,
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, host, resolve);
    });
    this.server = server;
    return (server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    const { server } = this;
    this.server = null;
    if (server === null) return;
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}
