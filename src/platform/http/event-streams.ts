import { Readable } from 'node:stream';
import { Refusal, type HttpProblem } from './problem.js';

/** A client that reads slower than this many bytes pile up is disconnected. */
const MAX_BYTES = 262_144;

/** Bounds of the streams of one kind in this process. */
export interface EventStreamBounds {
  readonly max: number;
  readonly maxPerOwner: number;
  /** How often each is checked. */
  readonly checkMs: number;
  readonly heartbeatMs: number;
  /** The page connects again after it, perhaps to another process. */
  readonly lifetimeMs: number;
}

export const STREAM_TIMES = { checkMs: 1000, heartbeatMs: 15_000, lifetimeMs: 600_000 };

const headers = { 'retry-after': '10' };

/** Who is connected, and what for. */
interface Followed {
  /** Rejects with {@link Refusal} where the stream may continue no longer. */
  verify(): Promise<unknown>;
}

class EventStream<Subject> {
  readonly body = new Readable({ read: () => undefined });
  readonly openedAt: number;
  sentAt: number;

  constructor(
    readonly subject: Subject,
    /** Counted together against `maxPerOwner`. */
    readonly owner: string,
    private readonly now: () => number,
  ) {
    this.openedAt = this.sentAt = now();
  }

  send(data: object, event?: string): void {
    this.push(`${event === undefined ? '' : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`);
    if (this.body.readableLength > MAX_BYTES) this.body.destroy();
  }

  /** Keeps proxies from closing an idle connection. A client that has not read since the last heartbeat is gone. */
  beat(): void {
    if (this.body.readableLength > 0) this.body.destroy();
    else this.push(':\n\n');
  }

  private push(text: string): void {
    this.sentAt = this.now();
    this.body.push(text);
  }
}

/** Server-sent events: who is connected, heartbeats, and an end for each stream. */
export class EventStreams<Subject extends Followed> {
  private readonly streams = new Set<EventStream<Subject>>();
  private timer: NodeJS.Timeout | null = null;
  private draining = false;

  constructor(
    private readonly bounds: EventStreamBounds,
    /** The details of refusals. */
    private readonly messages: { readonly tooMany: string; readonly tooManyOfOwner: string },
    private readonly now: () => number = Date.now,
    /** What there is to send at each check, to streams that continue. */
    private readonly poll: () => Promise<void> = () => Promise.resolve(),
  ) {}

  get count(): number {
    return this.streams.size;
  }

  [Symbol.iterator](): Iterator<EventStream<Subject>> {
    return this.streams.values();
  }

  /** A stream without bytes yet. Throws {@link Refusal} (429, 503). */
  open(owner: string, subject: Subject): EventStream<Subject> {
    const refusal = (status: number, detail: string): Refusal =>
      new Refusal({ status, detail, headers } satisfies HttpProblem);
    if (this.draining || this.count >= this.bounds.max) throw refusal(503, this.messages.tooMany);
    const ofOwner = [...this.streams].filter((each) => each.owner === owner);
    if (ofOwner.length >= this.bounds.maxPerOwner) throw refusal(429, this.messages.tooManyOfOwner);
    const stream = new EventStream(subject, owner, this.now);
    this.streams.add(stream);
    stream.body.once('close', () => this.streams.delete(stream));
    this.schedule();
    return stream;
  }

  /** Ends all of them for good: their pages connect again, to another process. */
  close(): void {
    this.draining = true;
    for (const stream of this.streams) this.end(stream);
  }

  end(stream: EventStream<Subject>): void {
    this.streams.delete(stream);
    stream.body.push(null);
  }

  private schedule(): void {
    if (this.count === 0) return;
    this.timer ??= setTimeout(() => {
      void this.check().finally(() => {
        this.timer = null;
        this.schedule();
      });
    }, this.bounds.checkMs).unref();
  }

  private async check(): Promise<void> {
    await Promise.all([...this.streams].map((stream) => this.verify(stream)));
    await this.poll();
    for (const stream of this.streams)
      if (this.now() - stream.sentAt >= this.bounds.heartbeatMs) stream.beat();
  }

  private async verify(stream: EventStream<Subject>): Promise<void> {
    if (this.now() - stream.openedAt >= this.bounds.lifetimeMs) return this.end(stream);
    try {
      await stream.subject.verify();
    } catch (error) {
      // A database that is unavailable does not end the session.
      if (!(error instanceof Refusal)) return;
      // Its page need not connect again to find out.
      stream.send({}, 'end');
      this.end(stream);
    }
  }
}
