import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { CONFIG, type Config } from '../config/config.js';
import { isPrivateAddress } from './address.js';
import { CONNECTION_DEFAULTS, guardConnections } from './connections.js';
import { HTTPS_REQUIRED } from './arrivals.js';
import { JSON_TYPE, problemJson, PROBLEM_TYPE } from './problem.js';
import { HealthRegistry } from '../telemetry/health.js';
import { collectNodeMetrics, registry, scrape } from '../telemetry/metrics.js';

/** Scrapers are few. */
const MAX_CONNECTIONS = 32;

/** GET /metrics and health on a separate listener of every process: the public port never serves metrics. */
@Injectable()
export class MetricsServer implements OnApplicationShutdown {
  private server: Server | null = null;

  constructor(
    @Inject(CONFIG) private readonly config: Pick<Config, 'requireHttps'>,
    @Inject(HealthRegistry) private readonly health: HealthRegistry,
  ) {}

  /** Listens, and resolves to the port. Rejects when the port is in use. */
  async listen(port: number, host: string): Promise<number> {
    collectNodeMetrics();
    const server = createServer((request, response) => {
      const path = request.method === 'GET' ? request.url?.split('?')[0] : undefined;
      const responded = this.respond(path, request.socket.remoteAddress ?? '', response);
      responded.catch(() => response.writeHead(500).end());
    });
    guardConnections(server, {
      ...CONNECTION_DEFAULTS,
      max: MAX_CONNECTIONS,
      maxPerAddress: MAX_CONNECTIONS,
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, host, resolve);
    });
    this.server = server;
    return (server.address() as AddressInfo).port;
  }

  private async respond(path: string | undefined, from: string, response: ServerResponse): Promise<void> {
    if (path === '/health/live') sendJson(response, 200, JSON.stringify({ status: 'ok' }));
    else if (path === '/health/ready') {
      const report = await this.health.report();
      sendJson(response, report.status === 'ok' ? 200 : 503, JSON.stringify(report));
    } else if (path !== '/metrics') response.writeHead(404).end();
    else if (this.config.requireHttps && !isPrivateAddress(from)) {
      sendJson(response, HTTPS_REQUIRED.status, problemJson(HTTPS_REQUIRED), PROBLEM_TYPE);
    } else {
      const text = await scrape();
      response.writeHead(200, { 'content-type': registry.contentType }).end(text);
    }
  }

  async onApplicationShutdown(): Promise<void> {
    const { server } = this;
    this.server = null;
    if (server === null) return;
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

function sendJson(response: ServerResponse, status: number, body: string, type = JSON_TYPE): void {
  response.writeHead(status, { 'content-type': type }).end(body);
}
