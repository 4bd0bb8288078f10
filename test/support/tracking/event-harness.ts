import { randomBytes } from 'node:crypto';
import { CommandBus } from '@nestjs/cqrs';
import type { PoolClient } from 'pg';
import { CreateMerchantWithKey } from '../../../src/contexts/access/contract.js';
import type { Side } from '../database/crashing-proxy.js';
import { WAIT_MS } from '../eventually.js';
import { testDatabase, type TestDatabase } from '../postgres.js';
import { SignedClient, type Credentials } from '../http/signed-client.js';
import type { SentBatch, StoredBatch, StoredEvent } from './event-books.js';
import { KillableService } from './killable-service.js';

const EVENTS = '/merchants/v1/events';
/** First half of the advisory locks of merchants, as the processor takes them. */
const MERCHANT_LOCKS = 7331;

export type Part = 'api' | 'worker' | 'other worker';

/** How a client goes about a batch. */
export interface SendMode {
  /** The uuid of an Idempotency-Key. */
  readonly key: string | null;
  /** Sends it again until it gets a response; else once. */
  readonly retries: boolean;
}

/** An API and two workers on one PostgreSQL, which die and are replaced, under a clock that can be set. */
export class EventHarness {
  private readonly parts = new Map<Part, KillableService>();
  private readonly revivals = new Map<Part, Promise<void>>();
  private readonly corpses: Promise<void>[] = [];
  private readonly masterKey = randomBytes(32).toString('hex');
  /** Holds the locks of merchants as a process does that is at their batches. */
  private holder: PoolClient | null = null;
  private shiftMs = 0;
  /** How often a part died. */
  deaths = 0;

  private constructor(readonly database: TestDatabase) {}

  static async open(): Promise<EventHarness> {
    const harness = new EventHarness(await testDatabase());
    for (const part of ['api', 'worker', 'other worker'] as const) await harness.start(part);
    return harness;
  }

  async newMerchant(): Promise<Credentials> {
    const { app } = this.parts.get('api')!;
    const { merchantId, secret: privateKey } = await app
      .get(CommandBus)
      .execute(new CreateMerchantWithKey('Shop'));
    return { apiKey: merchantId, privateKey };
  }

  /** Sets the clock of all processes. */
  setClock(now: Date): void {
    this.shiftMs = now.getTime() - Date.now();
  }

  /** The part dies at its `nth` message to the database from now on, if it comes so far before {@link reviveAll}. */
  doom(part: Part, nth: number, side: Side): void {
    this.parts.get(part)!.dieAt(nth, side);
  }

  /** Resolves to the last status; null when there was no response. */
  async send(batch: SentBatch, who: Credentials, { key, retries }: SendMode): Promise<number | null> {
    let status: number | null;
    const until = performance.now() + WAIT_MS;
    do {
      status = await this.sendOnce(batch, who, key);
      if (status === 202) batch.respondedAt ??= performance.now();
      if (status !== null && ![409, 503].includes(status)) return status;
      await this.revive('api');
      await new Promise((resolve) => setTimeout(resolve, 10));
    } while (retries && performance.now() < until);
    return status;
  }

  /** Restarts all processes without failpoints. */
  async reviveAll(): Promise<void> {
    for (const [part, service] of this.parts) {
      service.dieAt(Infinity, 'unsent');
      await this.revive(part);
    }
  }

  /** Ends all processes as SIGTERM does; how long the slowest took, in milliseconds. */
  async stopAll(): Promise<number> {
    const began = performance.now();
    await Promise.all([...this.parts.values()].map((each) => each.stop()));
    return performance.now() - began;
  }

  /** No process handles batches of these merchants until {@link settle}. */
  async pileUp(merchants: readonly string[]): Promise<void> {
    if (this.holder !== null) return;
    const holder = await this.database.pool.connect();
    this.holder = holder;
    for (const merchant of merchants)
      await holder.query('select pg_advisory_lock($1, hashtext($2))', [MERCHANT_LOCKS, merchant]);
  }

  /** Resolves when all of the merchants' batches have come to `states`. */
  async settle(merchants: readonly string[], states: readonly string[], withinMs = WAIT_MS): Promise<void> {
    await this.letGo();
    const until = performance.now() + withinMs;
    for (;;) {
      const { rows } = await this.database.pool.query<{ state: string; batches: number }>(
        `select state, count(*)::int as batches from tracking.batches
         where merchant_id = any ($1) and state <> all ($2) group by state`,
        [merchants, states],
      );
      if (rows.length === 0) return;
      if (performance.now() > until) throw new Error(`batches are stuck: ${JSON.stringify(rows)}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  async events(merchants: readonly string[]): Promise<StoredEvent[]> {
    const sql = `select merchant_id, event_id, event_name, payload from tracking.events where merchant_id = any ($1)`;
    return (await this.database.pool.query<StoredEvent>(sql, [merchants])).rows;
  }

  async batches(merchants: readonly string[]): Promise<StoredBatch[]> {
    const sql = `select merchant_id, state, body, new_items from tracking.batches where merchant_id = any ($1)`;
    return (await this.database.pool.query<StoredBatch>(sql, [merchants])).rows;
  }

  /** Ids of stored events that the sandbox's analytics provider was never sent. */
  async notForwarded(merchants: readonly string[]): Promise<string[]> {
    const { rows } = await this.database.pool.query<{ event_id: string }>(
      `select event_id from tracking.events where merchant_id = any ($1)
         and not exists (select from tracking.sandbox_analytics where insert_id = event_id)`,
      [merchants],
    );
    return rows.map(({ event_id }) => event_id);
  }

  async close(): Promise<void> {
    await this.letGo();
    await Promise.all([...this.parts.values()].map((each) => each.stop()));
    await Promise.all(this.corpses);
    await this.database.drop();
  }

  private async letGo(): Promise<void> {
    const { holder } = this;
    this.holder = null;
    await holder?.query('select pg_advisory_unlock_all()');
    holder?.release();
  }

  private async sendOnce(batch: SentBatch, who: Credentials, key: string | null): Promise<number | null> {
    const { url } = this.parts.get('api')!;
    const client = new SignedClient(url, who);
    try {
      return (await client.post(EVENTS, batch.body, key ?? undefined)).status;
    } catch {
      return null;
    }
  }

  private revive(part: Part): Promise<void> {
    const service = this.parts.get(part)!;
    if (!service.dead) return Promise.resolve();
    let revival = this.revivals.get(part);
    if (revival === undefined) {
      this.deaths += 1;
      this.corpses.push(service.bury());
      revival = this.start(part).finally(() => this.revivals.delete(part));
      this.revivals.set(part, revival);
    }
    return revival;
  }

  private async start(part: Part): Promise<void> {
    const clock = { now: () => new Date(Date.now() + this.shiftMs) };
    const role = part === 'api' ? 'api' : 'worker';
    const { masterKey, database } = this;
    this.parts.set(part, await KillableService.start({ databaseUrl: database.url, masterKey, role, clock }));
  }
}
