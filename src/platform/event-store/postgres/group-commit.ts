import { setTimeout as pause } from 'node:timers/promises';
import type { Pool, PoolClient } from 'pg';
import type { Commit } from '../port.js';

const GATHER_MS = 1;

/** The most that goes into one call. */
interface GroupLimits {
  readonly units: number;
  readonly bytes: number;
}

interface Waiting<Unit, Result> {
  readonly unit: Unit;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

/** A unit of work on its way into a group, with what it weighs. */
export interface GroupUnit {
  readonly commit: Commit;
  readonly bytes: number;
}

/**
 * Units that arrive while a call is in flight go together in the next one, each with a separate result.
 * Two units of one call never write the same stream or response key, nor does one check what another writes:
 * the later one waits for the next call, where it sees what the earlier one wrote.
 */
export class GroupCommit<Unit extends GroupUnit, Result> {
  private queue: Waiting<Unit, Result>[] = [];
  private running: Promise<void> | null = null;

  constructor(
    /** One outcome per unit; never rejects. */
    private readonly call: (units: readonly Unit[]) => Promise<readonly PromiseSettledResult<Result>[]>,
    private readonly limits: GroupLimits,
    /** Called when nothing is left to do. */
    private readonly idle: () => void = () => undefined,
  ) {}

  submit(unit: Unit): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.queue.push({ unit, resolve, reject });
      this.running ??= this.run();
    });
  }

  /** Resolves when everything submitted has its result. */
  async drained(): Promise<void> {
    while (this.running !== null) await this.running;
  }

  private async run(): Promise<void> {
    // One iteration of the event loop: requests that were read from their sockets together go together.
    await new Promise(setImmediate);
    let before = 1;
    while (this.queue.length > 0) {
      // Where several came together more will: half the calls are worth a millisecond.
      if (before > 1) await pause(GATHER_MS);
      const group = this.take();
      before = group.length;
      const outcomes = await this.call(group.map(({ unit }) => unit));
      group.forEach((each, place) => {
        const outcome = outcomes[place]!;
        if (outcome.status === 'fulfilled') each.resolve(outcome.value);
        else each.reject(outcome.reason);
      });
    }
    this.running = null;
    this.idle();
  }

  private take(): Waiting<Unit, Result>[] {
    const group: Waiting<Unit, Result>[] = [];
    const rest: Waiting<Unit, Result>[] = [];
    const touched = new Touched();
    let bytes = 0;
    for (const each of this.queue) {
      const fits =
        group.length === 0 ||
        (group.length < this.limits.units && bytes + each.unit.bytes <= this.limits.bytes);
      if (fits && touched.add(each.unit.commit)) {
        group.push(each);
        bytes += each.unit.bytes;
      } else {
        rest.push(each);
      }
    }
    this.queue = rest;
    return group;
  }
}

/** Streams and response keys of the units in a group. */
class Touched {
  private readonly written = new Set<string>();
  private readonly checked = new Set<string>();
  private readonly responses = new Set<string>();

  /** False when the unit must not go along; then nothing is remembered of it. */
  add(commit: Commit): boolean {
    const key = commit.response && `${commit.response.scope} ${commit.response.key}`;
    if (key !== undefined && this.responses.has(key)) return false;
    for (const { stream, events } of commit.appends) {
      if (this.written.has(stream)) return false;
      if (events.length > 0 && this.checked.has(stream)) return false;
    }
    if (key !== undefined) this.responses.add(key);
    for (const { stream, events } of commit.appends) {
      (events.length > 0 ? this.written : this.checked).add(stream);
    }
    return true;
  }
}

/**
 * The connection that appends go through. It stays checked out while there is something to write, so that a burst
 * does not queue for the pool behind readers, and goes back when there is nothing.
 */
export class WriterConnection {
  private client: PoolClient | null = null;
  private broken = false;

  constructor(private readonly pool: Pool) {}

  async connection(): Promise<PoolClient> {
    if (this.client !== null && this.broken) this.release();
    if (this.client !== null) return this.client;
    const client = await this.pool.connect();
    this.broken = false;
    client.on('error', this.onError);
    this.client = client;
    return client;
  }

  /** The connection is in doubt: the next call opens another. */
  discard(): void {
    this.broken = true;
    this.release();
  }

  release(): void {
    const { client } = this;
    if (client === null) return;
    this.client = null;
    client.off('error', this.onError);
    client.release(this.broken);
  }

  /** A connection that dies between two calls says so here; without a listener it would end the process. */
  private readonly onError = (): void => {
    this.broken = true;
  };
}
