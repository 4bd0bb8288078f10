import type { Command } from 'commander';
import { newId } from '../../../kernel/ids.js';
import type { CliContext } from '../../../platform/cli/cli-context.js';
import { connected } from '../../../platform/cli/connected.js';
import { collectEarly, counted, createProgress, printResult } from '../../../platform/cli/output.js';
import { ConfigError } from '../../../platform/config/settings.js';
import { COPY_END, openCopyEnd } from '../../../platform/event-store/copy-end.js';
import { logPages } from '../../../platform/event-store/log-pages.js';
import { EventStoreUnavailable, type CopyEnd, type EventStore } from '../../../platform/event-store/port.js';
import type { Database } from '../../../platform/postgres/database.js';
import { Unreachable } from '../../../platform/postgres/unavailable.js';
import { hashOfEvent } from '../ledger/event-leaf.js';
import { MerkleTree } from '../ledger/merkle-tree.js';
import type { SignedHead } from '../ledger/signed-head.js';
import { Heads } from '../ledger/heads.store.js';

const END = 'postgres (the database of DATABASE_URL) or an esdb:// address';
const ALIVE = `select count(*)::int as count from platform.processes
  where seen_at > clock_timestamp() - interval '1 minute'`;

/** `npm run events -- copy`: moves the log of a stopped service to another event store (ADR 189). */
export function eventsProgram(program: Command, cli: CliContext): void {
  program
    .description('Moves the events to another event store.')
    .command('copy')
    .description(
      'copy the log of a stopped service, compare both logs, and move it; repeat the command to continue after an interruption',
    )
    .requiredOption('--from <store>', `the event store of the service: ${END}`)
    .requiredOption('--to <store>', `an empty one, or an earlier copy: ${END}`)
    .action(async ({ from, to }: { readonly from: string; readonly to: string }) => {
      if (!COPY_END.test(from) || !COPY_END.test(to) || (from === 'postgres') === (to === 'postgres'))
        throw new ConfigError(
          '--from and --to must be two event stores, of which one is postgres and the other an esdb:// address',
        );
      collectEarly(50);
      const config = () => ({ ...cli.config(), eventStoreUrl: from === 'postgres' ? null : from });
      await connected({ ...cli, config }, async (database) => {
        await requireStopped(database);
        const ends = [await openCopyEnd(from, database), await openCopyEnd(to, database)] as const;
        try {
          const copied = await copyLog(...ends, await new Heads(database).newest(), createProgress());
          printResult(program, cli, copied, ({ events, merkle_root }) =>
            [
              `${counted(copied.copied, 'event')} copied. Both logs have ${counted(events, 'event')} and the same heads.`,
              `Merkle root ${merkle_root}`,
              `The log has moved: start every process ${to === 'postgres' ? 'without EVENT_STORE_URL' : 'with EVENT_STORE_URL set to the copy'}.`,
            ].join('\n'),
          );
        } catch (error) {
          if (!(error instanceof EventStoreUnavailable)) throw error;
          throw new Unreachable('An event store cannot be reached. Repeat the command: it continues.', {
            cause: error,
          });
        } finally {
          await Promise.all(ends.map(({ store }) => store.close()));
        }
      });
    });
}

async function requireStopped(database: Database): Promise<void> {
  const [row] = await database.query<{ count: number }>(ALIVE);
  if (row!.count > 0)
    throw new ConfigError(
      `Processes of the service that ran in the last minute: ${row!.count}. Stop them, and repeat the command.`,
    );
}

export type Copied = Awaited<ReturnType<typeof copyLog>>;

/**
 * Copies the events that `target` lacks. Then compares all leaves of both logs, and the root of the log with
 * the newest signed head. Finally `target` gets the identity of the log, and `source` a new identity.
 * `copied` is the number of events that this run copied.
 */
export async function copyLog(
  source: CopyEnd,
  target: CopyEnd,
  head: SignedHead | null,
  progress: (events: number, position: string) => void,
) {
  const log_id = await source.store.identity();
  const end = await source.store.head();
  let after = await target.store.head();
  const [[first], [theirs]] = [await source.store.readAll(null, 1), await target.store.readAll(null, 1)];
  if (theirs !== undefined && (first?.id !== theirs.id || first.position !== theirs.position))
    throw new ConfigError(
      'The event store of --to has events of another log. A copy needs an empty event store.',
    );
  // EventStoreDB marks each copied page. A killed run may have copied its last events without their mark.
  if (after !== null) await target.add(after, []);
  let copied = 0;
  for await (const page of logPages(source.store, { after, end })) {
    await target.add(after, page);
    after = page.at(-1)!.position;
    copied += page.length;
    progress(copied, after);
  }
  const tree = await compareLogs(source.store, target.store, head, progress);
  if ((await source.store.head()) !== end)
    throw new ConfigError('The service still appends to the log that is copied. Stop its processes.');
  // A kill between these two steps leaves this identity in both logs; the database accepts either log.
  await target.identify(log_id);
  if ((await target.store.identity()) !== log_id)
    throw new ConfigError('A service process has started on the copy. Stop it, and repeat the command.');
  await source.identify(newId());
  return { log_id, copied, events: tree.size, merkle_root: tree.root.toString('hex') };
}

async function compareLogs(
  source: EventStore,
  target: EventStore,
  head: SignedHead | null,
  progress: (events: number, position: string) => void,
): Promise<MerkleTree> {
  const tree = new MerkleTree();
  const copies = eventsIn(target);
  for await (const event of eventsIn(source)) {
    const { value: copy } = await copies.next();
    const leaf = hashOfEvent(event);
    if (!copy || !hashOfEvent(copy).equals(leaf))
      throw new ConfigError(
        `The copy differs from the log at position ${event.position} (${event.stream}, revision ${event.revision}).`,
      );
    tree.append(leaf);
    progress(tree.size, event.position);
    if (tree.size === head?.size && tree.root.toString('hex') !== head.root)
      throw new ConfigError(
        `The first ${head.size} events of the log contradict their signed head: npm run audit -- verify says where they differ.`,
      );
  }
  if ((await copies.next()).done !== true) throw new ConfigError('The copy has events that the log lacks.');
  if (head !== null && head.size > tree.size)
    throw new ConfigError(
      `The log has ${tree.size} events, and the newest signed head covers ${head.size}: events are missing.`,
    );
  return tree;
}

async function* eventsIn(store: EventStore) {
  for await (const page of logPages(store)) yield* page;
}
