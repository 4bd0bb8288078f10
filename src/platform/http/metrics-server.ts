import type { AddressInfo } from 'node:net';
import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { fastify, type FastifyInstance } from 'fastify';
import { httpConfig, type HttpConfig } from '../config/config.js';
import { HealthRegistry } from '../telemetry/health.js';
import { collectNodeMetrics, registry, scrape } from '../telemetry/metrics.js';
import { isPrivateAddress } from './address.js';
import { IDLE_TIMEOUT_MS, Listener, REQUEST_TIMEOUT_MS } from './connections.js';
import { HTTPS_REQUIRED, sendProblem } from './problem.js';

const MAX_CONNECTIONS = 32;

/** Serves GET /metrics and health checks on a separate port of every process. */
@Injectable()
export class MetricsServer implements OnApplicationShutdown {
  private server: FastifyInstance | null = null;

  constructor(
    @Inject(httpConfig.KEY) private readonly config: HttpConfig,
    private readonly health: HealthRegistry,
  ) {}

  /** Starts the server and resolves to its port, which the system chooses if `port` is 0. */
  async listen(port: number, host: string): Promise<number> {
    collectNodeMetrics();
    const timeouts = { requestTimeout: REQUEST_TIMEOUT_MS, connectionTimeout: IDLE_TIMEOUT_MS };
    const server = fastify({ forceCloseConnections: true, exposeHeadRoutes: false, ...timeouts });
    new Listener(server.server, MAX_CONNECTIONS);
    server.get('/health/live', () => ({ status: 'ok' }));
    server.get('/health/ready', async (_, reply) => {
      const report = await this.health.report();
      return reply.code(report.status === 'ok' ? 200 : 503).send(report);
    });
    server.get('/metrics', async ({ ip }, reply) => {
      if (this.config.requireHttps && !isPrivateAddress(ip)) return sendProblem(reply, HTTPS_REQUIRED);
      return reply.type(registry.contentType).send(await scrape());
    });
    await server.listen({ port, host });
    this.server = server;
    return (server.server.address() as AddressInfo).port;
  }

  async onApplicationShutdown(): Promise<void> {
    await this.server?.close();
  }
}
