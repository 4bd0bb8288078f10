import type { INestApplicationContext } from '@nestjs/common';
import { Option, type Command } from 'commander';
import { DomainError } from '../../kernel/domain-error.js';
import { isUuid } from '../../kernel/ids.js';
import type { Config } from '../config/config.js';
import type { Context } from '../context.js';
import { OperatorLookups } from '../operations/operator-lookups.js';
import type { Migration } from '../postgres/migrate.js';
import { requesterOf } from './requester.js';

/** What programs of operators work with. */
export interface CliContext {
  readonly contexts: readonly Context[];
  /** Of the whole database. */
  readonly migrations: readonly Migration[];
  readonly print: (text: string) => void;
  readonly exit: (code: number) => void;
  /** Of the person who runs the program, `DISBURSE_ADMIN_KEY`; null: the shell of the machine acts. */
  readonly adminKey: string | null;
  /** The service's own settings; without DATABASE_URL, the sandbox of DATA_DIR. */
  config(): Config;
  /** The master keys in the environment alone: for a program without a database. */
  masterKeys(): Pick<Config, 'masterKey' | 'masterKeyFormer'>;
  /** Boots what operators act on (`cliModule` of each context). */
  boot(): Promise<INestApplicationContext>;
}

/** Adds commands to a program. Several contexts may add to one. */
export type CliCommand = (program: Command, cli: CliContext) => void;

/** What an action prints: lines for people, an object for `--json`. */
export interface CliOutcome {
  readonly text: string;
  readonly json: object;
  /** Data of merchants in it: that an operator read it is recorded for their portals, as of the admin API. */
  readonly displays?: DisplayedData;
}

interface DisplayedData {
  /** As `payout <id>` or `payouts`. */
  readonly subject: string;
  readonly merchantIds: readonly string[];
}

/** The text, with a notice when no worker has applied the change yet. */
export function withNotice(text: string, { visible }: { readonly visible: boolean }): string {
  return visible ? text : `${text}\n\nNo worker has applied it yet: it takes effect once the service runs.`;
}

/** What a change prints. */
export function changeOutcome(done: string, change: { readonly visible: boolean }): CliOutcome {
  return { text: withNotice(done, change), json: { visible: change.visible } };
}

/** A commander action that boots what operators act on, prints what `act` returns, and closes everything. `this` has the options. */
export function cliAction(
  cli: CliContext,
  act: (this: Command, context: INestApplicationContext, ...args: string[]) => Promise<CliOutcome>,
): (this: Command, ...args: unknown[]) => Promise<void> {
  return async function (this: Command, ...args: unknown[]): Promise<void> {
    const context = await cli.boot();
    try {
      const texts = args.flat().filter((arg): arg is string => typeof arg === 'string');
      const outcome = await act.call(this, context, ...texts);
      if (outcome.displays !== undefined) await recordAccess(context, cli, outcome.displays);
      const asJson = this.optsWithGlobals<{ json?: boolean }>().json === true;
      cli.print(asJson ? JSON.stringify(outcome.json, null, 2) : outcome.text);
    } finally {
      await context.close();
    }
  };
}

async function recordAccess(
  context: INestApplicationContext,
  cli: CliContext,
  { subject, merchantIds }: DisplayedData,
): Promise<void> {
  const reader = await requesterOf(context, cli);
  await context.get(OperatorLookups, { strict: false }).record(reader, merchantIds, subject);
}

/** The id in lower case. Throws `not_found`, as the thing of this title, for what is no id. */
export function parseId(text: string | undefined, title: string): string {
  if (!isUuid(text)) throw DomainError.notFound(title);
  return text.toLowerCase();
}

/** `--limit <number>`: how many rows a list has. */
export function limitOption(): Option {
  return new Option('--limit <number>', 'how many').default(100).argParser(limitOf);
}

function limitOf(text: string): number {
  if (!/^[1-9][0-9]{0,4}$/.test(text))
    throw new DomainError('bad_request', '--limit must be a number from 1 to 99999');
  return Number(text);
}

const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** The seconds of an option, `--older-than` for example, such as 30m. Throws `bad_request`. */
export function secondsOf(text: string, option = '--older-than', max = Infinity): number {
  const [, count, unit] = /^([0-9]{1,6})([smhd])$/.exec(text) ?? [];
  if (count === undefined)
    throw new DomainError('bad_request', `${option} must be a duration, such as 30m, 1h or 2d`);
  const seconds = Number(count) * UNITS[unit!]!;
  if (seconds > max) throw new DomainError('bad_request', `${option} must be at most ${max} seconds`);
  return seconds;
}
