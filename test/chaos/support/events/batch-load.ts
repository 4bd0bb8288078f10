import { randomUUID } from 'node:crypto';
import { signed } from '../../../../bench/support/sign.js';
import { keyed } from '../payouts.js';
import { Line, type Responded } from '../line.js';
import { Senders } from '../senders.js';
import type { ServiceProcess } from '../service-process.js';
import { between, oneOf } from '../suite.js';
import type { Verdict } from '../verdict.js';
import type { EventBooks, SentBatch } from './event-books.js';

const PATH = '/merchants/v1/events';
const PAUSE_MS = 150;
const GIVE_UP_MS = 120_000;
/** The batches of a merchant that clients may repeat in part. */
const REMEMBERED = 200;
const MALFORMED = 0.04;
const REPEATED = 0.15;
const OVERLAPPING = 0.2;
const KEYED = 0.6;
/** The share of clients that send once and ignore the response. */
const CARELESS = 0.1;
/** The share of batches of the largest size. */
const FULL = 0.02;

/**
 * Merchants' clients that send batches: fresh ones, parts of earlier ones with other contents, whole repeats, ids in
 * other letter case, duplicates within a batch, and malformed ones; until they get a response, or only once.
 */
export class BatchLoad extends Senders {
  responded = 0;
  private readonly ids = new Map<string, string[]>();
  private readonly last = new Map<number, SentBatch>();
  private readonly lines = new Map<number, Line>();
  private readonly listeners = new Set<() => void>();

  constructor(
    private readonly service: ServiceProcess,
    private readonly books: EventBooks,
    verdict: Verdict,
  ) {
    super(verdict, PAUSE_MS, GIVE_UP_MS);
  }

  /** Calls `act` as soon as the next 202 arrives. Returns false when none does in time. */
  atNext202(act: () => void, withinMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.listeners.delete(arrived);
        resolve(false);
      }, withinMs);
      const arrived = (): void => {
        clearTimeout(timer);
        this.listeners.delete(arrived);
        act();
        resolve(true);
      };
      this.listeners.add(arrived);
    });
  }

  override async stop(): Promise<void> {
    await super.stop();
    for (const line of this.lines.values()) line.close();
  }

  protected override async round(client: number): Promise<void> {
    const { merchant, secondMerchant, port } = this.service;
    const who = client % 2 === 0 ? merchant : secondMerchant;
    const line = this.lines.get(client) ?? new Line(port, this.verdict);
    this.lines.set(client, line);
    const last = Math.random() < REPEATED ? this.last.get(client) : undefined;
    const batch = last ?? this.draft(who.apiKey);
    const key = Math.random() < KEYED ? randomUUID() : null;
    const send = (): Promise<Responded> =>
      line.send(key === null ? signed(who, 'POST', PATH, batch.body) : keyed(who, PATH, batch.body, key));
    const response =
      Math.random() < CARELESS
        ? await this.attempt('batch', send)
        : await this.untilFinal('batch', [batch.malformed ? 400 : 202], send);
    if (response?.status === 202) this.accepted(batch);
    if (!batch.malformed) this.last.set(client, batch);
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

  private accepted(batch: SentBatch): void {
    batch.respondedAt ??= performance.now();
    this.responded += 1;
    for (const notify of this.listeners) notify();
  }
}
