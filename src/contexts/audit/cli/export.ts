import { resolve } from 'node:path';
import type { Command } from 'commander';
import { DomainError } from '../../../kernel/domain-error.js';
import { isUuid } from '../../../kernel/ids.js';
import { connected } from '../../../platform/cli/connected.js';
import type { CliContext } from '../../../platform/cli/cli-context.js';
import { wrappedKeys } from '../../../platform/sealing/key-ring.js';
import { readCopies } from '../../../platform/sealing/key-ring-store.js';
import { type Exported, exportedLines, exportTo } from '../application/export.js';
import { type ExportScope, isWhole, type Signed, POINT_FORMS, readPoint } from '../domain/manifest.js';
import { readKey } from '../domain/signed-head.js';
import { ExportFolder, printLines, withPath } from '../store/export-folder.js';
import { Heads, SigningKeys } from '../store/heads.js';
import { collectEarly, counted, printResult, progressOf } from './output.js';

const PART_EVENTS = 100_000;
const MAX_PART_EVENTS = 10_000_000;

interface Options {
  readonly out?: string;
  readonly merchant?: string;
  readonly from?: string;
  readonly to?: string;
  readonly partEvents?: string;
}

/** `npm run audit -- export`: the log as lines that anyone can verify. Changes nothing. */
export function exportProgram(program: Command, cli: CliContext): void {
  program
    .command('export')
    .description(
      'write the events as they are stored, one line of JSON each with its hash; personal fields stay sealed',
    )
    .option(
      '--out <folder>',
      'into parts with a manifest; the same command continues after the last whole part. Without it: the lines alone, to standard output',
    )
    .option('--merchant <id>', "only a merchant's")
    .option('--from <point>', `after this position, or from this time on. ${POINT_FORMS}`)
    .option('--to <point>', 'up to this position, or before this time')
    .option('--part-events <number>', 'events of a part', String(PART_EVENTS))
    .action(async ({ out, ...options }: Options) => {
      const scope = scopeOf(options);
      collectEarly(50);
      await connected(cli, async (database, store) => {
        const progress = progressOf();
        if (out === undefined) {
          const end = await store.head();
          return withPath('standard output', () =>
            printLines(exportedLines(store, scope, { end, progress })),
          );
        }
        const path = resolve(out);
        // This order matters: the keys are at least those that signed the head and the events.
        const signed = async (size: number): Promise<Signed> => ({
          signed_head: await new Heads(database).newest(size),
          signing_keys: (await new SigningKeys(database).all()).map(readKey),
          key_ring: wrappedKeys(await readCopies(database)),
        });
        const exported = await withPath(path, async () =>
          exportTo(await ExportFolder.at(path), store, scope, { progress, signed, now: new Date() }),
        );
        printResult(program, cli, exported.manifest, () => describe(exported, path));
      });
    });
}

function scopeOf({
  merchant,
  from,
  to,
  partEvents = String(PART_EVENTS),
}: Omit<Options, 'out'>): ExportScope {
  if (merchant !== undefined && !isUuid(merchant)) throw DomainError.notFound('Merchant');
  const events = /^[0-9]{1,8}$/.test(partEvents) ? Number(partEvents) : 0;
  if (events < 1 || events > MAX_PART_EVENTS)
    throw new DomainError('bad_request', `--part-events must be a number from 1 to ${MAX_PART_EVENTS}`);
  return {
    merchant: merchant?.toLowerCase() ?? null,
    from: pointOf('--from', from),
    to: pointOf('--to', to),
    part_events: events,
  };
}

function pointOf(option: string, text: string | undefined): string | null {
  if (text === undefined) return null;
  const point = readPoint(text);
  if (point === null) throw new DomainError('bad_request', `${option} must be ${POINT_FORMS}`);
  return point.kind === 'position' ? point.position : point.time.toISOString();
}

function describe({ manifest, resumed }: Exported, path: string): string {
  const { events, parts, first_position, last_position, merkle_root, scope } = manifest;
  const lines = [
    `${counted(events, 'event')} in ${counted(parts.length, 'part')}, positions ${first_position ?? 'none'} to ${last_position ?? 'none'}: ${path}`,
  ];
  if (resumed === null) lines.push('It was complete before: nothing was left to do.');
  else if (resumed > 0) lines.push(`${counted(resumed, 'event')} were there from an earlier run.`);
  if (isWhole(scope)) lines.push(`Merkle root ${merkle_root}`);
  return lines.join('\n');
}
