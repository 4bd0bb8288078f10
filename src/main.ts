import type { INestApplicationContext, Type } from '@nestjs/common';
import { readConfig, type Config } from './composition.js';
import { toExitCode } from './exit-codes.js';
import { onOwnSchema } from './platform/postgres/migrate.js';
import { Log } from './platform/telemetry/logger.js';
import { startService, type Service } from './service.js';

/** The extra time, after the grace period for requests in flight, before a forced exit. */
const FORCED_EXIT_AFTER_MS = 4000;

/** Modules and hooks that run with the service in one process, such as the sandbox. */
export interface Companion {
  /** The configuration, completed by the companion. */
  readonly config: Config;
  readonly modules: readonly Type[];
  /** Called after the service begins to listen. */
  ready(app: INestApplicationContext): Promise<unknown>;
  /** Called after the service has closed or failed to start. */
  stop(): Promise<void>;
}

/** Runs the service with its companion until a signal. Failures end the process. */
export async function run(prepare: (given: Config) => Promise<Companion | null>): Promise<void> {
  let companion: Companion | null = null;
  let service: Service | undefined;
  try {
    const given = readConfig();
    companion = await prepare(given);
    const { config = given, modules = [] } = companion ?? {};
    service = await onOwnSchema(() => startService(config, modules));
    stopOnSignal(service, companion, config.shutdownGraceMs);
    await companion?.ready(service.app);
  } catch (error) {
    // The companion must stop after a failure in any phase.
    await service?.close().catch(() => undefined);
    await companion?.stop().catch(() => undefined);
    fail(error);
  }
}

/** SIGTERM and SIGINT drain the service and exit with 0. A second signal or a slow shutdown exits with 1. */
function stopOnSignal(service: Service, companion: Companion | null, graceMs: number): void {
  let stopping = false;
  let exitCode = 0;
  const stop = (): void => {
    if (stopping) process.exit(1);
    stopping = true;
    setTimeout(() => process.exit(1), graceMs + FORCED_EXIT_AFTER_MS).unref();
    service
      .close()
      .then(() => companion?.stop())
      .then(
        () => process.exit(exitCode),
        (error: unknown) => fail(error),
      );
  };
  // The state is unknown, but requests in flight are finished. Node passes unhandled rejections here as well.
  process.on('uncaughtException', (err, origin) => {
    service.app.get(Log).fatal({ msg: 'process stops: an error was not caught', err, origin });
    exitCode = 1;
    if (!stopping) stop();
  });
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
}

/** Prints a sentence for an error that an operator can correct, else a stack. */
function fail(error: unknown): never {
  const exitCode = toExitCode(error);
  const { message, stack = message } = error instanceof Error ? error : { message: String(error) };
  process.stderr.write(`${exitCode === 1 ? stack : message}\n`);
  process.exit(exitCode);
}
