import { Global, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { CqrsModule } from '@nestjs/cqrs';
import { Command } from 'commander';
import { ALL_CONTEXTS, ALL_SETTINGS, MIGRATIONS, readConfig } from './composition.js';
import { ContextsModule } from './platform/boot/contexts.module.js';
import { type Config, ConfigModule } from './platform/config/config.js';
import { about, ConfigError } from './platform/config/settings.js';
import { forOperators, type Programs } from './platform/context.js';
import { CHANGES_NEED_OPERATION } from './platform/event-store/current-operation.js';
import { EventStoreModule } from './platform/event-store/event-store.module.js';
import type { Operator } from './platform/operator/operator.js';
import { printable } from './platform/operator/printable.js';
import { DatabaseModule } from './platform/postgres/database.module.js';
import { onOwnSchema } from './platform/postgres/migrate.js';
import { ProjectionsModule } from './platform/projections/projections.module.js';
import { SealingModule } from './platform/sealing/sealing.module.js';

/** Those of the platform; the others are the contexts'. */
const PLATFORM_PROGRAMS: Programs = {
  keys: async () => (await import('./platform/operator/keys.js')).keysProgram,
  rebuild: async () => (await import('./platform/operator/rebuild.js')).rebuildProgram,
  subscriptions: async () => (await import('./platform/operator/subscriptions.js')).subscriptionsProgram,
};

/** Where a program's settings come from, and where its response and its exit code go. */
export interface OperatorIo extends Pick<Operator, 'print' | 'exit'> {
  readonly env: NodeJS.ProcessEnv;
  /** Adds what the settings leave out, where the service runs with a companion. */
  readonly complete?: (given: Config) => Config;
}

const ALL_PROGRAMS: readonly Programs[] = [
  PLATFORM_PROGRAMS,
  ...ALL_CONTEXTS.map(({ programs = {} }) => programs),
];

export function programNames(): readonly string[] {
  return [...new Set(ALL_PROGRAMS.flatMap((each) => Object.keys(each)))].sort();
}

/** The operator's program of this name, with the commands of every context that has some for it. */
export async function programOf(name: string, io: OperatorIo): Promise<Command> {
  const found = ALL_PROGRAMS.flatMap((programs) => programs[name] ?? []);
  if (found.length === 0)
    throw new ConfigError(`There is no program ${name}. There are: ${programNames().join(', ')}`);
  const program = new Command(name).option('--json', 'print JSON for machines');
  for (const load of found) (await load())(program, operatorOf(io));
  return program;
}

/** Programs change nothing outside an operation (admin-api.md 4). */
@Global()
@Module({
  providers: [{ provide: CHANGES_NEED_OPERATION, useValue: true }],
  exports: [CHANGES_NEED_OPERATION],
})
class OperationsOnlyModule {}

/** What operators act on: the contexts with their commands, no listener and no worker. */
@Module({})
class OperatorModule {}

function operatorOf({ env, print, exit, complete = (given) => given }: OperatorIo): Operator {
  const config = (): Config => ({ ...complete(readConfig(env)), roles: [] });
  const createContext: Operator['boot'] = async () => {
    const given = config();
    if (given.masterKey === null)
      throw new ConfigError(`MASTER_KEY must be set. ${about(ALL_SETTINGS.masterKey)}`);
    const imports = [
      ConfigModule.of(given),
      OperationsOnlyModule,
      CqrsModule.forRoot(),
      DatabaseModule.of(MIGRATIONS),
      SealingModule,
      EventStoreModule,
      ProjectionsModule,
      ContextsModule.of(given, ALL_CONTEXTS, forOperators(ALL_CONTEXTS)),
    ];
    const options = { logger: false, abortOnError: false } as const;
    return NestFactory.createApplicationContext({ module: OperatorModule, imports }, options);
  };
  return {
    contexts: ALL_CONTEXTS,
    migrations: MIGRATIONS,
    print: (text) => print(printable(text)),
    exit,
    adminKey: env['DISBURSE_ADMIN_KEY']?.trim() || null,
    config,
    boot: () => onOwnSchema(createContext),
  };
}
