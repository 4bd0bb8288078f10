import type { INestApplicationContext, Type } from '@nestjs/common';
import { readConfig, type Config } from './composition.js';
import { toExitCode } from './exit-codes.js';
import { onOwnSchema } from './platform/postgres/migrate.js';
import { Log } from './platform/telemetry/logger.js';
import { startService, type Service } from './service.js';

/** The time after the grace of requests in flight. Then the process ends by force, within 35 s. */
const FORCED_EXIT_AFTER_MS = 4000;

/** The companion of a service that does not run alone, such as the sandbox. */
export interface Companion {
  /** The configuration, completed. */
  readonly config: Config;
  readonly modules: readonly Type[];
  /** Called once the service listens. */
  ready(app: INestApplicationContext): Promise<unknown>;
  /** Called after the service has drained and closed, and where it does not start. */
  stop(): Promise<void>;
}

/** Runs the service until a signal, with what `prepare` gives for its configuration. Failures end the process. */
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
    // The servers of the sandbox end after any failure, even once the service listens.
    await service?.close().catch(() => undefined);
    await companion?.stop().catch(() => undefined);
    fail(error);
  }
}

/**
 * SIGTERM and SIGINT: finish, let go, exit with 0. A second signal, or too long a shutdown, ends it at once. An error
 * that nothing caught is logged and has the same shutdown, with exit code 1: the state that it left is unknown, so a
 * supervisor has to start a new process, but the requests in flight still get their responses.
 */
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
  // Node passes rejections that nothing handled here too.
  process.on('uncaughtException', (err, origin) => {
    service.app.get(Log).fatal({ msg: 'process stops: an error was not caught', err, origin });
    exitCode = 1;
    if (!stopping) stop();
  });
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
}

/** A sentence for what the operator can correct, a stack for what only an engineer can. */
function fail(error: unknown): never {
  const exitCode = toExitCode(error);
  const { message, stack = message } = error instanceof Error ? error : { message: String(error) };
  process.stderr.write(`${exitCode === 1 ? stack : message}\n`);
  process.exit(exitCode);
}
