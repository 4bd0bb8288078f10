import type { Command } from 'commander';
import { withRunningSandbox } from '../../../sandbox/running-sandbox.js';
import type { CliIo } from '../../../src/cli.js';
import type { TestApp } from '../app.js';

/** `npm run chaos` emits no types of constructors, which Nest needs, so that it uses the build. */
const BUILD = new URL('../../../dist/src/cli.js', import.meta.url).href;

type Programs = typeof import('../../../src/cli.js');

export interface Run {
  readonly printed: string;
  readonly exitCode: number | null;
}

/** Runs an operator's program in this process, by default without second persons. Rejects with its error. */
export async function invoke(
  program: string,
  env: NodeJS.ProcessEnv,
  ...args: readonly string[]
): Promise<Run> {
  let printed = '';
  let exitCode: number | null = null;
  const io: CliIo = {
    env: env['MODE'] === 'production' ? env : { OPERATIONS_APPROVALS: 'off', ...env },
    complete: withRunningSandbox,
    print: (text) => (printed += `${text}\n`),
    exit: (code) => (exitCode = code),
  };
  const isJest = process.env['JEST_WORKER_ID'] !== undefined;
  const cli: Programs = isJest ? await import('../../../src/cli.js') : await import(BUILD);
  const command = await cli.loadProgram(program, io);
  await command.parseAsync([...args, ...reasonFor(command, args)], { from: 'user' });
  return { printed, exitCode };
}

/** Runs operators' programs on the database and the event store of a service. `env` has further settings. */
export function programsFor(app: Pick<TestApp, 'config'>, env: NodeJS.ProcessEnv = {}) {
  return (program: string, ...args: readonly string[]): Promise<Run> => {
    const { databaseUrl, eventStoreUrl, masterKey } = app.config;
    const own = { DATABASE_URL: databaseUrl!, EVENT_STORE_URL: eventStoreUrl ?? '', MASTER_KEY: masterKey! };
    return invoke(program, { ...own, ...env }, ...args);
  };
}

/** Adds a missing reason to writes, because most suites test only the effect. */
function reasonFor(program: Command, args: readonly string[]): readonly string[] {
  const named = (command: Command, [name, ...rest]: readonly string[]): Command => {
    if (name === undefined) return command;
    const found = command.commands.find((each) => each.name() === name);
    return named(found ?? command, rest);
  };
  const takesReason = named(program, args).options.some(({ long }) => long === '--reason');
  const isGiven = args.some((arg) => ['--reason', '--help'].includes(arg));
  return takesReason && !isGiven ? ['--reason', 'requested by a suite'] : [];
}
