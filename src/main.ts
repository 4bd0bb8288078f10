import 'reflect-metadata';
import { CommandBus } from '@nestjs/cqrs';
import { IssueExchangeKey } from './contexts/access/application/exchange-key-commands.js';
import { RegisterMerchant } from './contexts/access/application/merchant-commands.js';
import { readConfig } from './composition.js';
import { ConfigError } from './platform/config/settings.js';
import { followParent } from '../sandbox/announce.js';
import { prepareSandbox, type Sandbox } from '../sandbox/prepare.js';
import { SandboxError } from '../sandbox/sandbox-error.js';
import { onOwnSchema } from './platform/postgres/migrate.js';
import { Unreachable } from './platform/postgres/unavailable.js';
import { Log } from './platform/telemetry/logger.js';
import { startService, type Service } from './service.js';

/** After the grace of requests in flight: then the process ends by force, within 35 s. */
const FORCED_EXIT_AFTER_MS = 4000;

/** Of <sysexits.h>: what the operator can mend, and what may be mended by waiting. */
const EXIT_CODES = [
  [ConfigError, 78],
  [SandboxError, 78],
  [Unreachable, 69],
] as const;

async function main(): Promise<void> {
  followParent();
  const given = readConfig();
  const sandbox = given.mode === 'sandbox' ? await prepareSandbox(given) : null;
  const config = sandbox?.config ?? given;
  let service: Service | undefined;
  try {
    service = await onOwnSchema(() => startService(config));
    stopOnSignal(service, sandbox, config.shutdownGraceMs);
    const commands = service.app.get(CommandBus);
    await sandbox?.ready(service.app, {
      registerMerchant: (name) => commands.execute(new RegisterMerchant(name)),
      issueExchangeKey: (...key) => commands.execute(new IssueExchangeKey(...key)),
    });
  } catch (error) {
    // After any failure, also once the service listens, the servers of the sandbox end too.
    await service?.close().catch(() => undefined);
    await sandbox?.stop();
    throw error;
  }
}

/**
 * SIGTERM and SIGINT: finish, let go, exit with 0. A second signal, or too long a shutdown, ends it at once. An error
 * that nothing caught is logged and has the same shutdown, with exit code 1: the state that it left is unknown, so a
 * supervisor has to start a new process, but the requests in flight still get their responses.
 */
function stopOnSignal(service: Service, sandbox: Sandbox | null, graceMs: number): void {
  let stopping = false;
  let exitCode = 0;
  const stop = (): void => {
    if (stopping) process.exit(1);
    stopping = true;
    setTimeout(() => process.exit(1), graceMs + FORCED_EXIT_AFTER_MS).unref();
    service
      .close()
      .then(() => sandbox?.stop())
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

/** A sentence for what the operator can mend, a stack for what only an engineer can. */
function fail(error: unknown): never {
  const exitCode = EXIT_CODES.find(([kind]) => error instanceof kind)?.[1];
  const text =
    exitCode !== undefined && error instanceof Error
      ? error.message
      : error instanceof Error
        ? (error.stack ?? error.message)
        : String(error);
  process.stderr.write(`${text}\n`);
  process.exit(exitCode ?? 1);
}

main().catch(fail);
