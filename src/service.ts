import type { AddressInfo } from 'node:net';
import { NestFactory } from '@nestjs/core';
import type { Type } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { AppModule } from './app.module.js';
import type { Config } from './composition.js';
import { proxyNotice } from './platform/config/config.js';
import { toBacklog, drainHttp } from './platform/http/connections.js';
import { EdgeAdapter } from './platform/http/fastify-adapter.js';
import { RateLimitGuard } from './platform/http/rate-limit.guard.js';
import { HealthRegistry } from './platform/telemetry/health.js';
import { Log } from './platform/telemetry/logger.js';
import { MetricsServer } from './platform/http/metrics-server.js';
import { startTracing } from './platform/telemetry/tracing.js';

export interface Service {
  readonly app: NestFastifyApplication;
  /** The address of the API; null without the role `api`. */
  readonly address: string | null;
  /** Reports "not ready", finishes the requests in flight, and closes. */
  close(): Promise<void>;
}

/** Boots the service with additional modules, then listens. Rejects if a dependency is unavailable. */
export async function startService(config: Config, modules: readonly Type[] = []): Promise<Service> {
  const stopTracing = await startTracing(config);
  const adapter = new EdgeAdapter(config);
  const app = await NestFactory.create<NestFastifyApplication>(AppModule.forRoot(config, modules), adapter, {
    bufferLogs: true,
    abortOnError: false,
    // The caller, `run` in main.ts, prints the error of a boot.
    autoFlushLogs: false,
  });
  const log = app.get(Log);
  app.useLogger(log);
  // The rate limit is the last global guard: the guards of APIs identify the caller that it counts.
  app.useGlobalGuards(app.get(RateLimitGuard));
  app.flushLogs();
  const notice = proxyNotice(config);
  if (notice !== null) log.warn(notice);
  const close = async (): Promise<void> => {
    app.get(HealthRegistry).drain();
    await drainHttp(adapter.api, config.shutdownGraceMs);
    await app.close();
    await stopTracing();
  };
  try {
    const address = await listen(app, config);
    return { app, address, close };
  } catch (error) {
    await close().catch(() => undefined);
    throw error;
  }
}

async function listen(app: NestFastifyApplication, config: Config): Promise<string | null> {
  await app.get(MetricsServer).listen(config.metricsPort, config.host);
  if (!config.roles.includes('api')) {
    await app.init();
    return null;
  }
  await app.listen({ port: config.port, host: config.host, backlog: toBacklog(config) });
  const { address, port } = app.getHttpServer().address() as AddressInfo;
  return `http://${address.includes(':') ? `[${address}]` : address}:${port}`;
}
