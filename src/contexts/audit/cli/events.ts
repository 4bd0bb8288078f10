import type { Command } from 'commander';
import { DomainError } from '../../../kernel/domain-error.js';
import type { Config } from '../../../platform/config/config.js';
import { connected } from '../../../platform/cli/connected.js';
import type { CliContext } from '../../../platform/cli/cli-context.js';
import { COPY_END, openCopyEnd } from '../../../platform/event-store/copy-end.js';
import { EventStoreUnavailable } from '../../../platform/event-store/port.js';
import { Unreachable } from '../../../platform/postgres/unavailable.js';
import { LogCopy, type Copied } from '../application/copy-log.js';
import { Heads } from '../store/heads.js';
import { collectEarly, counted, printResult, progressOf } from './output.js';

interface Options {
  readonly from: string;
  readonly to: string;
  readonly switch?: boolean;
}

const END = 'postgres (the database of DATABASE_URL) or an esdb:// address';

/** `npm run events`: moves the log to another event store. */
export function eventsProgram(program: Command, cli: CliContext): void {
  program
    .description('Moves the events to another event store.')
    .command('copy')
    .description(
      'copy the log, while the service runs, and compare both; repeat the command to continue after an interruption',
    )
    .requiredOption('--from <store>', `the event store of the service: ${END}`)
    .requiredOption('--to <store>', `an empty one, or an earlier copy: ${END}`)
    .option(
      '--switch',
      'at the end refuse appends, copy what came meanwhile, and move the log: then start the processes with its EVENT_STORE_URL',
    )
    .action(async ({ from, to, switch: switches = false }: Options) => {
      if (!COPY_END.test(from) || !COPY_END.test(to) || (from === 'postgres') === (to === 'postgres'))
        throw new DomainError(
          'bad_request',
          `--from and --to must be two event stores, of which one is postgres and the other an esdb:// address`,
        );
      collectEarly(50);
      const config = (): Config => ({ ...cli.config(), eventStoreUrl: from === 'postgres' ? null : from });
      await connected({ ...cli, config }, async (database) => {
        const ends = [await openCopyEnd(from, database), await openCopyEnd(to, database)] as const;
        try {
          const copy = new LogCopy(...ends, new Heads(database), progressOf());
          const copied = await copy.run(switches);
          printResult(program, cli, copied, () => describe(copied, to));
        } catch (error) {
          if (!(error instanceof EventStoreUnavailable)) throw error;
          throw new Unreachable(
            'An event store cannot be reached. Repeat the command: it continues where it stopped.',
            { cause: error },
          );
        } finally {
          await Promise.all(ends.map((end) => end.close()));
        }
      });
    });
}

function describe({ copied, events, position, merkle_root, signed, switched }: Copied, to: string): string {
  const url = to === 'postgres' ? 'without EVENT_STORE_URL' : 'with EVENT_STORE_URL set to the copy';
  return [
    `${counted(copied, 'event')} copied. Both logs have ${counted(events, 'event')} up to position ${position ?? 'none'} and the same heads.`,
    `Merkle root ${merkle_root}`,
    signed === null
      ? 'No signed head covers them.'
      : `The signed head over ${counted(signed, 'event')} agrees with both.`,
    switched
      ? `The log has moved: start every process ${url}.`
      : 'The service still writes to the first. Add --switch to move it.',
  ].join('\n');
}
