import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { signed, type Credentials } from '../../../../bench/support/sign.js';
import type { EventBooks, SentBatch } from '../../../support/tracking/event-books.js';
import { keyed } from '../operations.js';
import { Line } from '../report-load.js';
import { between, oneOf } from '../suite.js';
import { Tally, type Verdict } from '../verdict.js';

const PATH = '/merchants/v1/events';
const GIVE_UP_MS = 120_000;
/** Batches that a merchant's clients may send parts of again. */
const REMEMBERED = 200;
const MALFORMED = 0.04;
const REPEATED = 0.15;
const OVERLAPPING = 0.2;
const KEYED = 0.6;
/** Clients that do not care: they send once. */
const CARELESS = 0.1;
/** Most batches are small, one in fifty is as large as batches get. */
const FULL = 0.02;

export interface BatchLoadTarget {
  readonly port: number;
  readonly merchants: readonly Credentials[];
  /** Connections of each merchant. */
  readonly clients: number;
  readonly pauseMs: number;
}

/**
 * Merchants' clients that send batches: fresh ones, parts of earlier ones with other contents, whole repeats, ids in
 * other letters, twice in one batch, and malformed ones; until they get a response, or only once.
 */
export class BatchLoad {
  /** Statuses, and why connections broke. */
  readonly tally = new Tally();
  responded = 0;
  private readonly ids = new Map<string, string[]>();
  private readonly clients: Promise<void>[] = [];
  private readonly listeners = new Set<() => void>();
  private running = true;
  private abandoned = false;

  constructor(
    private readonly target: BatchLoadTarget,
    private readonly books: EventBooks,
    private readonly verdict: Verdict,
  ) {}

  start(): void {
    const failed = (error: Error): void => this.verdict.expect(false, 'a client goes on', error.message);
    for (const who of this.target.merchants)
      for (let n = 0; n < this.target.clients; n += 1) this.clients.push(this.client(who).catch(failed));
  }

  /** Calls `act` in the moment in which the next 202 arrives; false when none does in time. */
  atNext202(act: () => void, withinMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.listeners.delete(heard);
        resolve(false);
      }, withinMs);
      const heard = (): void => {
        clearTimeout(timer);
        this.listeners.delete(heard);
        act();
        resolve(true);
      };
      this.listeners.add(heard);
    });
  }

  /** No new batches; resolves when each one under way has its response. */
  async stop(): Promise<void> {
    this.running = false;
    await Promise.all(this.clients);
  }

  /** Lets go of the batches under way too: the suite has failed and nothing will respond to them. */
  async abandon(): Promise<void> {
    this.abandoned = true;
    await this.stop();
  }

  private async client(who: Credentials): Promise<void> {
    const line = new Line(this.target.port);
    let last: SentBatch | null = null;
    while (this.running) {
      const repeated: SentBatch | null = Math.random() < REPEATED ? last : null;
      const batch: SentBatch = repeated ?? this.draft(who.apiKey);
      await this.deliver(line, who, batch);
      if (!batch.malformed) last = batch;
      await sleep(between(0, this.target.pauseMs));
    }
    line.close();
  }

  private draft(merchantId: string): SentBatch {
    const size = Math.random() < FULL ? 1000 : Math.ceil(between(0, 30));
    const ids = Array.from({ length: size }, () => randomUUID() as string);
    const known = this.ids.get(merchantId) ?? [];
    if (Math.random() < OVERLAPPING && known.length > 0) {
      for (let place = 0; place < size; place += 2) ids[place] = oneOf(known).toUpperCase();
      ids[size - 1] = ids[0]!.toLowerCase();
    }
    if (Math.random() < MALFORMED) {
      const spoil = (items: object[]): unknown =>
        items.with(-1, { ...items.at(-1), event_datetime: '2026-02-30' });
      return this.books.batch(merchantId, ids, spoil);
    }
    this.ids.set(merchantId, [...known, ...ids.slice(0, 4)].slice(-REMEMBERED));
    return this.books.batch(merchantId, ids);
  }

  private async deliver(line: Line, who: Credentials, batch: SentBatch): Promise<void> {
    const key = Math.random() < KEYED ? randomUUID() : null;
    const patient = Math.random() > CARELESS;
    const request = (): ReturnType<typeof signed> =>
      key === null ? signed(who, 'POST', PATH, batch.body) : keyed(who, PATH, batch.body, key);
    const began = performance.now();
    for (;;) {
      const outcome = await line.send(request);
      const status = outcome.kind === 'responded' ? outcome.status : null;
      this.tally.add(outcome.kind === 'responded' ? String(outcome.status) : outcome.why);
      if (status === 202) this.accepted(batch);
      if (status === (batch.malformed ? 400 : 202)) return;
      if (status !== null && ![409, 503].includes(status))
        return this.verdict.expect(false, `a batch got ${status}`, JSON.stringify(outcome));
      if (outcome.kind === 'cut_off' && outcome.why === 'timeout') this.verdict.expect(false, 'a batch hung');
      if (!patient || this.abandoned) return;
      if (performance.now() - began > GIVE_UP_MS)
        return this.verdict.expect(false, `a batch has no response after ${GIVE_UP_MS / 1000} s`);
      await sleep(between(10, 100));
    }
  }

  private accepted(batch: SentBatch): void {
    batch.respondedAt ??= performance.now();
    this.responded += 1;
    for (const heard of this.listeners) heard();
  }
}
