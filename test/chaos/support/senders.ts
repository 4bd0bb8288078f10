import { setTimeout as sleep } from 'node:timers/promises';
import { Line } from './line.js';
import { between } from './suite.js';
import { Tally, type Verdict } from './verdict.js';

interface Responded {
  readonly status: number;
}

/** Statuses after which a careful client repeats the request. */
const RETRIED = [409, 503];

/** Clients that work in rounds until stopped, and repeat each request until it has a final response. */
export abstract class Senders {
  readonly tally = new Tally();
  private readonly lines = new Map<number, Line>();
  protected abandoned = false;
  private workers: Promise<void>[] = [];
  private running = true;

  constructor(
    protected readonly verdict: Verdict,
    protected readonly pauseMs: number,
    /** The time after which a request without a final response counts as a broken promise. */
    private readonly giveUpMs: number,
  ) {}

  start(clients: number): void {
    const failed = (error: Error): void => this.verdict.expect(false, 'a client continues', error.stack);
    this.workers = Array.from({ length: clients }, (_, client) => this.work(client).catch(failed));
  }

  /** Ends the rounds. Resolves when each request in flight has its final response. */
  async stop(): Promise<void> {
    this.running = false;
    await Promise.all(this.workers);
    for (const line of this.lines.values()) line.close();
  }

  /** Drops the requests in flight too, after a failure of the suite. */
  async abandon(): Promise<void> {
    this.abandoned = true;
    await this.stop();
  }

  protected abstract round(client: number): Promise<void>;

  /** Returns the connection of a client, which is closed by `stop`. */
  protected lineOf(client: number, port: number): Line {
    const line = this.lines.get(client) ?? new Line(port, this.verdict);
    this.lines.set(client, line);
    return line;
  }

  /** Sends once. Returns null without a response. */
  protected async attempt<R extends Responded>(what: string, send: () => Promise<R>): Promise<R | null> {
    try {
      const response = await send();
      this.tally.add(`${what} ${response.status}`);
      return response;
    } catch (error) {
      const { code, cause, name, message } = error as NodeJS.ErrnoException & { cause?: { code?: string } };
      this.tally.add(code ?? cause?.code ?? (name === 'Error' ? message : name));
      return null;
    }
  }

  /** Sends until a response has one of these statuses. Returns null if one is wrong or none in time. */
  protected async untilFinal<R extends Responded>(
    what: string,
    final: readonly number[],
    send: () => Promise<R>,
  ): Promise<R | null> {
    const began = performance.now();
    for (;;) {
      const response = await this.attempt(what, send);
      if (response !== null && final.includes(response.status)) return response;
      if (response !== null && !RETRIED.includes(response.status)) {
        this.verdict.expect(false, `${what} got ${response.status}`, response);
        if (response.status < 500) return null;
      }
      if (this.abandoned) return null;
      if (performance.now() - began > this.giveUpMs) {
        this.verdict.expect(false, `${what} has a final response within ${this.giveUpMs / 1000} s`, response);
        return null;
      }
      await sleep(between(20, 200));
    }
  }

  private async work(client: number): Promise<void> {
    while (this.running) {
      await this.round(client);
      await sleep(between(0, this.pauseMs));
    }
  }
}
