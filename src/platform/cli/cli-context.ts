import type { INestApplicationContext } from '@nestjs/common';
import type { Command } from 'commander';
import type { PlatformConfig, SealingConfig } from '../config/config.js';
import type { Context } from '../context.js';
import type { Migration } from '../postgres/migrate.js';
import { printResult } from './output.js';

export interface CliContext {
  readonly contexts: readonly Context[];
  readonly migrations: readonly Migration[];
  readonly print: (text: string) => void;
  readonly exit: (code: number) => void;
  /** Returns the settings of the service or, without DATABASE_URL, of the sandbox in DATA_DIR. */
  config(): PlatformConfig;
  /** Returns the master keys of the environment, for a program without a database. */
  masterKeys(): SealingConfig;
  /** Boots the service without listeners and workers. */
  boot(): Promise<INestApplicationContext>;
}

/** Adds commands to a program. Several contexts may add commands to the same program. */
export type CliCommand = (program: Command, cli: CliContext) => void;

/** The output of an action: lines for people, and the object for `--json`. */
export interface CliOutcome {
  readonly text: string;
  readonly json: object;
}

/** Returns an action that boots the service without roles, runs `act` and prints its outcome. */
export function cliAction(
  cli: CliContext,
  act: (this: Command, context: INestApplicationContext, ...args: string[]) => Promise<CliOutcome>,
): (this: Command, ...args: unknown[]) => Promise<void> {
  return async function (this: Command, ...args: unknown[]): Promise<void> {
    const context = await cli.boot();
    try {
      const texts = args.flat().filter((arg): arg is string => typeof arg === 'string');
      const { json, text } = await act.call(this, context, ...texts);
      printResult(this, cli, json, () => text);
    } finally {
      await context.close();
    }
  };
}
