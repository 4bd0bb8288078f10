import { constants, setPriority } from 'node:os';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { Command } from 'commander';
import { AppModule } from './app.module.js';
import { ALL_CONTEXTS, MIGRATIONS, readConfig, type Config } from './composition.js';
import { DomainError } from './kernel/domain-error.js';
import type { CliContext } from './platform/cli/cli-context.js';
import { printable } from './platform/cli/output.js';
import { sealingConfig } from './platform/config/config.js';
import { about, ConfigError } from './platform/config/settings.js';
import type { CliCommands } from './platform/context.js';
import { EdgeAdapter } from './platform/http/fastify-adapter.js';
import { toExitCode } from './exit-codes.js';
import { onOwnSchema } from './platform/postgres/migrate.js';
import { Unreachable } from './platform/postgres/unavailable.js';

/** The program that runs at low CPU priority so that it does not slow down the service. */
const YIELDS = 'rebuild';

const exit = (code: number): void => void (process.exitCode = code);
const print = (text: string): boolean => process.stdout.write(`${text}\n`);

const PLATFORM_COMMANDS: CliCommands = {
  keys: async () => (await import('./platform/cli/keys.js')).keysProgram,
  migrate: async () => (await import('./platform/cli/migrate.js')).migrateProgram,
  rebuild: async () => (await import('./platform/cli/rebuild.js')).rebuildProgram,
};

export interface CliIo extends Pick<CliContext, 'print' | 'exit'> {
  readonly env: NodeJS.ProcessEnv;
  /** Adds the settings of a companion, such as the sandbox. */
  readonly complete?: (given: Config) => Config;
}

const ALL_COMMANDS: readonly CliCommands[] = [
  PLATFORM_COMMANDS,
  ...ALL_CONTEXTS.map(({ programs = {} }) => programs),
];

export function programNames(): readonly string[] {
  return [...new Set(ALL_COMMANDS.flatMap((each) => Object.keys(each)))].sort();
}

/** Loads an operator's program with the commands that contexts add to it. */
export async function loadProgram(name: string, io: CliIo): Promise<Command> {
  const found = ALL_COMMANDS.flatMap((programs) => programs[name] ?? []);
  if (found.length === 0)
    throw new ConfigError(`There is no program ${name}. There are: ${programNames().join(', ')}`);
  const program = new Command(name).option('--json', 'print JSON for machines');
  for (const load of found) (await load())(program, createCliContext(io));
  return program;
}

function createCliContext({ env, print, exit, complete = (given) => given }: CliIo): CliContext {
  const config = (): Config => ({ ...complete(readConfig(env)), roles: [] });
  const createContext: CliContext['boot'] = async () => {
    const given = config();
    if (given.masterKey === null)
      throw new ConfigError(`MASTER_KEY must be set. ${about(sealingConfig.settings.masterKey)}`);
    const adapter = new EdgeAdapter(given);
    const options = { logger: false, abortOnError: false } as const;
    const app = await NestFactory.create<NestFastifyApplication>(AppModule.forRoot(given), adapter, options);
    return app.init();
  };
  return {
    contexts: ALL_CONTEXTS,
    migrations: MIGRATIONS,
    print: (text) => print(printable(text)),
    exit,
    config,
    masterKeys: () => sealingConfig(env),
    boot: () => onOwnSchema(createContext),
  };
}

/** Runs an operator's program, `cli.js NAME ...`. Prints an error as a sentence and sets the exit code. */
export async function runProgram([name = '', ...args]: readonly string[], complete?: CliIo['complete']) {
  try {
    if (name === YIELDS) setPriority(constants.priority.PRIORITY_LOW);
    const program = await loadProgram(name, { env: process.env, print, exit, complete });
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    exit(toExitCode(error));
    const text = error instanceof Error ? (isExpected(error) ? error.message : error.stack) : String(error);
    process.stderr.write(`${printable(text ?? '')}\n`);
    // A failed boot may leave connections that retry without end.
    process.exit();
  }
}

/** Checks for an error that needs no stack, such as `ENOENT: no such file or directory, ...`. */
function isExpected(error: Error): boolean {
  return [ConfigError, DomainError, Unreachable].some((kind) => error instanceof kind) || 'syscall' in error;
}
