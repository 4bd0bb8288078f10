/**
 * The reference of the deliveries row: a bare loop over one table. Claims 500 in one statement, the next 500 while
 * half of them are still to be sent; sends UNDER_WAY at a time; commits attempts in groups. No lanes, no
 * second look at the endpoint, no guard over addresses, no limits to a response, no log.
 */
import pg from 'pg';
import { BARE_TABLES, BareSender, type BareAttempt, type BareDelivery } from './deliveries-send.js';
import { onRun } from './on-run.js';

const CLAIM = 500;
const UNDER_WAY = Number(process.env['UNDER_WAY']);

const pool = new pg.Pool({
  connectionString: process.env['DATABASE_URL'],
  max: Number(process.env['POOL_SIZE']),
});
await pool.query(BARE_TABLES);
onRun(Number(process.env['PORT']), { '/run': drain });

async function drain(): Promise<void> {
  const sender = await BareSender.load(pool);
  const claims = new Claims();
  const records = new Records();
  await Promise.all(
    Array.from({ length: UNDER_WAY }, async () => {
      for (let delivery = await claims.take(); delivery; delivery = await claims.take())
        records.add(await sender.send(delivery));
    }),
  );
  await records.committed();
}

/** What is due, claimed ahead of those who send it. */
class Claims {
  private ready: BareDelivery[] = [];
  private next = 0;
  private claiming: Promise<void> | null = null;
  private exhausted = false;

  async take(): Promise<BareDelivery | undefined> {
    while (this.next === this.ready.length && !this.exhausted) await this.claim();
    if (this.ready.length - this.next < CLAIM / 2 && !this.exhausted) void this.claim();
    return this.ready[this.next++];
  }

  private claim(): Promise<void> {
    this.claiming ??= this.claimMore().finally(() => (this.claiming = null));
    return this.claiming;
  }

  private async claimMore(): Promise<void> {
    const { rows } = await pool.query<BareDelivery>({
      name: 'claim',
      text: `with due as (
          select delivery_id from deliveries where state = 'pending' and not claimed and due_at <= now()
          order by due_at limit ${CLAIM} for update skip locked
        )
        update deliveries set claimed = true from due where deliveries.delivery_id = due.delivery_id
        returning deliveries.delivery_id, endpoint_id, body`,
    });
    this.exhausted = rows.length === 0;
    this.ready = [...this.ready.slice(this.next), ...rows];
    this.next = 0;
  }
}

/** One statement in flight; attempts that end meanwhile go together in the next one. */
class Records {
  private waiting: BareAttempt[] = [];
  private busy: Promise<void> | null = null;

  add(attempt: BareAttempt): void {
    this.waiting.push(attempt);
    this.busy ??= this.commit();
  }

  async committed(): Promise<void> {
    await this.busy;
  }

  private async commit(): Promise<void> {
    while (this.waiting.length > 0) {
      const batch = this.waiting;
      this.waiting = [];
      const column = <K extends keyof BareAttempt>(name: K): BareAttempt[K][] =>
        batch.map((each) => each[name]);
      await pool.query({
        name: 'record',
        text: `with ended as (
            select * from unnest($1::uuid[], $2::uuid[], $3::timestamptz[], $4::int[], $5::text[], $6::int[],
              $7::bytea[]) as a (delivery_id, endpoint_id, started_at, duration_ms, outcome, http_status, excerpt)
          ), kept as (
            insert into attempts (delivery_id, attempt, endpoint_id, started_at, duration_ms, outcome, http_status,
              response_excerpt)
            select delivery_id, 1, endpoint_id, started_at, duration_ms, outcome, http_status, excerpt from ended
          )
          update deliveries set state = outcome, attempts = 1, claimed = false, finished_at = clock_timestamp()
          from ended where deliveries.delivery_id = ended.delivery_id`,
        values: [
          column('delivery_id'),
          column('endpoint_id'),
          column('started_at'),
          column('duration_ms'),
          column('outcome'),
          column('http_status'),
          column('response_excerpt'),
        ],
      });
    }
    this.busy = null;
  }
}
