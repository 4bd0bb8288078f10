import { Readable } from 'node:stream';
import { Refusal, type Problem } from './problem.js';

/** Bounds of the streams of one kind in this process. */
interface EventStreamBounds {
  readonly max: number;
  readonly maxPerOwner: number;
  /** How often each is checked. */
  readonly checkMs: number;
  readonly heartbeatMs: number;
  /** The page connects again after it, perhaps to another process. */
  readonly lifetimeMs: number;
  /** One whose client reads slower than this many bytes pile up is ended. */
  readonly maxBytes: number;
}

const headers = { 'retry-after': '10' };
const TOO_MANY: Problem = { status: 503, detail: 'Too many streams are open', headers };
const TOO_MANY_OF_OWNER: Problem = { status: 429, detail: 'Too many streams are open', headers };

/** Of a stream that may continue no longer: its page need not connect again to find out. */
const END = 'event: end\ndata: {}\n\n';

interface EventStream<Subject> {
  readonly body: Readable;
  /** Counted together against `maxPerOwner`. */
  readonly owner: string;
  subject: Subject;
  readonly openedAt: number;
  sentAt: number;
}

/** Server-sent events: who is connected, heartbeats, and an end for each stream. */
export class EventStreams<Subject> {
  private readonly streams = new Set<EventStream<Subject>>();
  private timer: NodeJS.Timeout | null = null;
  private draining = false;

  constructor(
    private readonly bounds: EventStreamBounds,
    /** The subject as it is now. Rejects with {@link Refusal} where the stream may continue no longer. */
    private readonly verify: (subject: Subject) => Promise<Subject>,
    private readonly now: () => number = Date.now,
  ) {}

  get count(): number {
    return this.streams.size;
  }

  /** The body of the response. Throws {@link Refusal} (429, 503). `onEnd` is called once the last stream has ended. */
  open(owner: string, subject: Subject, onEnd: () => void = () => undefined): Readable {
    if (this.draining || this.count >= this.bounds.max) throw new Refusal(TOO_MANY);
    const ofOwner = [...this.streams].filter((each) => each.owner === owner);
    if (ofOwner.length >= this.bounds.maxPerOwner) throw new Refusal(TOO_MANY_OF_OWNER);
    const at = this.now();
    const body = new Readable({ read: () => undefined });
    const stream = { body, owner, subject, openedAt: at, sentAt: at };
    this.streams.add(stream);
    body.once('close', () => {
      this.streams.delete(stream);
      if (this.count === 0) onEnd();
    });
    // The headers are sent with the first bytes.
    body.push(':\n\n');
    this.schedule();
    return body;
  }

  /** To every stream whose subject it is for. */
  send(event: string, data: object, isFor: (subject: Subject) => boolean): void {
    const text = `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
    for (const stream of this.streams) {
      if (!isFor(stream.subject)) continue;
      stream.sentAt = this.now();
      stream.body.push(text);
      if (stream.body.readableLength > this.bounds.maxBytes) stream.body.destroy();
    }
  }

  /** Ends all of them: their pages connect again, to another process. */
  close(): void {
    this.draining = true;
    for (const stream of this.streams) this.end(stream);
  }

  /** All of them: their clients connect again and read what they missed. */
  restart(): void {
    for (const stream of this.streams) this.end(stream);
  }

  private schedule(): void {
    if (this.count === 0) return;
    this.timer ??= setTimeout(() => {
      void Promise.all([...this.streams].map((stream) => this.check(stream))).finally(() => {
        this.timer = null;
        this.schedule();
      });
    }, this.bounds.checkMs).unref();
  }

  private async check(stream: EventStream<Subject>): Promise<void> {
    if (this.now() - stream.openedAt >= this.bounds.lifetimeMs) return this.end(stream);
    const isOver = await this.verify(stream.subject).then(
      (subject) => {
        stream.subject = subject;
        return false;
      },
      // A database that is unavailable does not end the session.
      (error: unknown) => error instanceof Refusal,
    );
    if (isOver) {
      stream.body.push(END);
      return this.end(stream);
    }
    if (this.now() - stream.sentAt < this.bounds.heartbeatMs) return;
    stream.sentAt = this.now();
    // A client that has not read since the last heartbeat is gone.
    if (stream.body.readableLength > 0) stream.body.destroy();
    else stream.body.push(':\n\n');
  }

  private end(stream: EventStream<Subject>): void {
    stream.body.push(null);
  }
}
