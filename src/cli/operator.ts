import 'reflect-metadata';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Module, type DynamicModule, type INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { CqrsModule } from '@nestjs/cqrs';
import type { Command } from 'commander';
import { EventStoreModule } from '../platform/event-store/event-store.module.js';
import { ProjectionsModule } from '../platform/projections/projections.module.js';
import { DomainError } from '../kernel/domain-error.js';
import { ALL_CONTEXTS, MIGRATIONS } from '../composition.js';
import { forOperators } from '../platform/context.js';
import { ContextsModule } from '../platform/boot/contexts.module.js';
import { ConfigModule } from '../platform/config/config.module.js';
import { ALL_SETTINGS, readConfig } from '../composition.js';
import type { Config } from '../platform/config/config.js';
import { about, ConfigError } from '../platform/config/settings.js';
import { DatabaseModule } from '../platform/postgres/database.module.js';
import { readJson } from '../../sandbox/files.js';
import type { SandboxSecrets } from '../../sandbox/secrets.js';
import { Unreachable } from '../platform/postgres/unreachable.js';
import { SealingModule } from '../platform/sealing/sealing.module.js';

const EXIT_REFUSED = 1;
const EXIT_CONFIG = 78;

/** What operators act on: the contexts with their commands, no listener and no worker. */
@Module({})
class OperatorModule {
  static of(config: Config): DynamicModule {
    return {
      module: OperatorModule,
      imports: [
        ConfigModule.of(config),
        CqrsModule.forRoot(),
        DatabaseModule.of(MIGRATIONS),
        SealingModule,
        EventStoreModule,
        ProjectionsModule,
        ContextsModule.of(config, ALL_CONTEXTS, forOperators(ALL_CONTEXTS)),
      ],
    };
  }
}

/** What an action prints: lines for people, an object for `--json`. */
export interface Outcome {
  readonly text: string;
  readonly json: object;
}

/** Where a program's settings come from, and where its response and its exit code go. */
export interface OperatorIo {
  readonly env: NodeJS.ProcessEnv;
  readonly print: (text: string) => void;
  readonly exit: (code: number) => void;
}

/** Makes a commander action that boots the operator's context, prints what `act` answers, and lets go of everything. */
export function operate(
  io: OperatorIo,
  act: (context: INestApplicationContext, ...args: string[]) => Promise<Outcome>,
): (this: Command, ...args: unknown[]) => Promise<void> {
  return async function (this: Command, ...args: unknown[]): Promise<void> {
    const config = operatorConfig(io.env);
    const context = await NestFactory.createApplicationContext(OperatorModule.of(config), {
      logger: false,
      abortOnError: false,
    });
    try {
      const outcome = await act(context, ...args.filter((arg): arg is string => typeof arg === 'string'));
      const asJson = this.optsWithGlobals<{ json?: boolean }>().json === true;
      io.print(asJson ? JSON.stringify(outcome.json, null, 2) : outcome.text);
    } finally {
      await context.close();
    }
  };
}

/** Runs a program in this process and turns what it throws into a sentence and an exit code. */
export async function runProgram(program: (io: OperatorIo) => Command): Promise<void> {
  const exit = (code: number): void => {
    process.exitCode = code;
  };
  try {
    const print = (text: string): boolean => process.stdout.write(`${text}\n`);
    await program({ env: process.env, print, exit }).parseAsync();
  } catch (error) {
    exit(error instanceof ConfigError ? EXIT_CONFIG : EXIT_REFUSED);
    const expected = [ConfigError, DomainError, Unreachable].some((kind) => error instanceof kind);
    process.stderr.write(
      `${expected || !(error instanceof Error) ? String(messageOf(error)) : error.stack}\n`,
    );
  }
}

function messageOf(error: unknown): unknown {
  return error instanceof Error ? error.message : error;
}

/** The service's own settings; without DATABASE_URL, the sandbox of DATA_DIR. Enough for programs that open no seal. */
export function databaseConfig(env: NodeJS.ProcessEnv): Config {
  const given = readConfig(env);
  const config =
    given.mode === 'sandbox' && given.databaseUrl === null ? { ...given, ...sandboxOf(given) } : given;
  return { ...config, roles: [] };
}

/** {@link databaseConfig} for programs that open seals too. */
export function operatorConfig(env: NodeJS.ProcessEnv): Config {
  const config = databaseConfig(env);
  if (config.masterKey === null)
    throw new ConfigError(`MASTER_KEY must be set. ${about(ALL_SETTINGS.masterKey)}`);
  return config;
}

function sandboxOf({ dataDir, masterKey }: Config): Pick<Config, 'databaseUrl' | 'masterKey'> {
  const folder = resolve(dataDir);
  const secrets = readJson<SandboxSecrets>(join(folder, 'secrets.json'));
  if (secrets === null || secrets.postgres_port === null || !existsSync(join(folder, 'service.pid'))) {
    throw new ConfigError(
      `No sandbox is running in ${folder}: npm start it, or set DATABASE_URL and MASTER_KEY.`,
    );
  }
  return {
    databaseUrl: `postgres://disburse:${secrets.postgres_password}@127.0.0.1:${secrets.postgres_port}/disburse`,
    masterKey: masterKey ?? secrets.master_key,
  };
}
