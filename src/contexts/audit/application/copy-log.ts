import { ConfigError } from '../../../platform/config/settings.js';
import type { CopyEnd } from '../../../platform/event-store/copy-end.js';
import { logPages } from '../../../platform/event-store/log-pages.js';
import { comparePositions, type EventStore, type RecordedEvent } from '../../../platform/event-store/port.js';
import { hashOfEvent } from '../domain/event-leaf.js';
import { MerkleTree } from '../domain/merkle-tree.js';
import type { SignedHead } from '../domain/signed-head.js';
import type { Heads } from '../store/heads.js';

export interface Copied {
  readonly log_id: string;
  /** Of this run. */
  readonly copied: number;
  /** Of both logs, which are equal. */
  readonly events: number;
  readonly position: string | null;
  /** Over the leaves of all of them, read from either store: the root of a head of this size. */
  readonly merkle_root: string;
  /** The size of the newest signed head, which both logs agree with; null: there is none. */
  readonly signed: number | null;
  /** Appends go to the copy from now on. */
  readonly switched: boolean;
}

/** While more than that came during a round, the next one is done before anyone has to wait. */
const SHORT_ROUND = 500;
const MAX_ROUNDS = 20;

/**
 * Copies what `target` lacks of the log of `source`, event by event, and proves it: both are read again, and have the
 * same leaves. The service may write meanwhile. With `switches` appends are refused at the end until the last events are
 * copied and compared, and for good at the source.
 */
export class LogCopy {
  private readonly tree = new MerkleTree();
  private compared: string | null = null;
  private copied = 0;
  private signed: number | null = null;

  constructor(
    private readonly source: CopyEnd,
    private readonly target: CopyEnd,
    private readonly heads: Pick<Heads, 'newest'>,
    private readonly progress: (events: number, position: string) => void,
  ) {}

  async run(switches: boolean): Promise<Copied> {
    const { source, target } = this;
    const logId = await source.store.identity();
    await this.refuseOtherLog();
    let more = await this.round();
    for (let rounds = 1; more > SHORT_ROUND && rounds < MAX_ROUNDS; rounds += 1) more = await this.round();
    if (switches) {
      await source.fence();
      try {
        await this.round();
        const head = await this.heads.newest();
        if (head !== null && head.size > this.tree.size)
          throw new ConfigError(
            `The log has ${this.tree.size} events, and the newest signed head covers ${head.size}: events are missing.`,
          );
        if ((await source.store.head()) !== this.compared)
          throw new ConfigError(
            'The service still appends to the event store that is copied from. Stop its processes.',
          );
      } catch (error) {
        await source.open(logId);
        throw error;
      }
      // In this order: a process that is killed in between leaves a log that this database still follows.
      await target.open(logId);
      await source.retire();
    }
    const { tree, copied, signed, compared: position } = this;
    const merkle_root = tree.root.toString('hex');
    return { log_id: logId, copied, events: tree.size, position, merkle_root, signed, switched: switches };
  }

  /** What can be said before anything is written. All the rest, the comparison finds. */
  private async refuseOtherLog(): Promise<void> {
    const [source, target] = [this.source.store, this.target.store];
    const [[first], [theirs]] = [await source.readAll(null, 1), await target.readAll(null, 1)];
    const [end, theirEnd] = [await source.head(), await target.head()];
    if (theirs === undefined) return;
    if (first?.id !== theirs.id || first.position !== theirs.position)
      throw new ConfigError(
        'The event store that is copied to has events of another log. A copy needs an empty one.',
      );
    if (comparePositions(theirEnd, end) > 0)
      throw new ConfigError(
        `The event store that is copied to is ahead of the one that is copied from (${theirEnd}, ${end ?? 'empty'}). A service wrote to it.`,
      );
  }

  /** Copies up to the end that the source has now, and compares. Gives the number of events. */
  private async round(): Promise<number> {
    const before = this.copied;
    // The copy goes at least as far.
    const head = await this.heads.newest();
    let after = await this.target.store.head();
    for await (const page of logPages(this.source.store, { after })) {
      await this.target.add(after, page);
      after = page.at(-1)!.position;
      this.copied += page.length;
      this.progress(this.copied, after);
    }
    // A process that was killed may have left its last events without a mark.
    if (after !== null) await this.target.add(after, []);
    await this.compare(after, head);
    return this.copied - before;
  }

  /** Both logs from where they were compared to `end`. */
  private async compare(end: string | null, head: SignedHead | null): Promise<void> {
    const extent = { after: this.compared, end };
    const theirs = eventsOf(this.target.store, extent);
    for await (const event of eventsOf(this.source.store, extent)) {
      const { value: copy } = await theirs.next();
      const leaf = hashOfEvent(event);
      if (copy === undefined || !hashOfEvent(copy).equals(leaf))
        throw new ConfigError(
          `The copy differs from the log at position ${event.position} (${event.stream}, revision ${event.revision}).`,
        );
      this.tree.append(leaf);
      this.compared = event.position;
      this.progress(this.tree.size, event.position);
      if (head !== null && head.size === this.tree.size) this.agree(head.root, head.size);
    }
    if ((await theirs.next()).done !== true) throw new ConfigError('The copy has events that the log lacks.');
  }

  private agree(root: string, size: number): void {
    if (this.tree.root.toString('hex') !== root)
      throw new ConfigError(
        `The log is not the one of the signed head over ${size} events: npm run audit -- verify says where they differ.`,
      );
    this.signed = size;
  }
}

async function* eventsOf(
  store: Pick<EventStore, 'readAll'>,
  extent: { readonly after: string | null; readonly end: string | null },
): AsyncGenerator<RecordedEvent, undefined, undefined> {
  if (extent.end === null) return;
  for await (const page of logPages(store, extent)) yield* page;
}
