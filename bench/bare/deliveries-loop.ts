/**
 * The reference of the deliveries row: a bare loop over one table, without lanes, address checks, response
 * limits or log. It claims the next 500 while it sends 500. It POSTs IN_FLIGHT signed requests at a time over
 * kept-alive connections, and commits attempts in groups.
 */
import { createHmac } from 'node:crypto';
import { Agent, request } from 'undici';
import { GroupCall } from '../../src/platform/jobs/group-call.js';
import { onRun } from './on-run.js';
import { barePool } from './shell.js';

const CLAIM = 500;
const IN_FLIGHT = Number(process.env['IN_FLIGHT']);

interface Delivery {
  readonly delivery_id: string;
  readonly endpoint_id: string;
  readonly body: string;
}

interface Attempt {
  readonly delivery_id: string;
  readonly endpoint_id: string;
  readonly started_at: Date;
  readonly duration_ms: number;
  readonly outcome: string;
  readonly http_status: number;
  readonly response_excerpt: Buffer;
}

interface Endpoint {
  readonly endpoint_id: string;
  readonly url: string;
  readonly secret: string;
}

/** The connections outlive a run, as in the service. */
const agent = new Agent();
const pool = barePool();
// The columns of the service's tables, and the indexes that the loop needs.
await pool.query(`
  create table if not exists endpoints (endpoint_id uuid primary key, url text not null, secret text not null);
  create table if not exists deliveries (
    delivery_id uuid primary key, endpoint_id uuid not null, merchant_id uuid not null, type text not null,
    body text not null, state text not null default 'pending', attempts int not null default 0,
    due_at timestamptz not null default clock_timestamp(), finished_at timestamptz,
    claimed boolean not null default false);
  alter table deliveries alter column body set storage external;
  create index if not exists deliveries_due on deliveries (due_at) where state = 'pending' and not claimed;
  create table if not exists attempts (
    delivery_id uuid not null, attempt int not null, endpoint_id uuid not null, started_at timestamptz not null,
    duration_ms int not null, outcome text not null, http_status int, failure_phase text, error text,
    response_excerpt bytea, primary key (delivery_id, attempt));
`);
/** One statement in flight; attempts that end meanwhile share the next one. */
const records = new GroupCall<Attempt, void>(record);
onRun(Number(process.env['PORT']), drain);

async function drain(): Promise<void> {
  const { rows } = await pool.query<Endpoint>('select endpoint_id, url, secret from endpoints');
  const key = (secret: string): Buffer => Buffer.from(secret.slice('whsec_'.length), 'base64');
  const endpoints = new Map(
    rows.map(({ endpoint_id, url, secret }) => [endpoint_id, { url, key: key(secret) }]),
  );
  const due = claimed();
  const recorded: Promise<void>[] = [];
  await Promise.all(
    Array.from({ length: IN_FLIGHT }, async () => {
      for (let next = await due.next(); next.done !== true; next = await due.next()) {
        const { url, key } = endpoints.get(next.value.endpoint_id)!;
        recorded.push(records.call(await send(next.value, url, key)));
      }
    }),
  );
  await Promise.all(recorded);
}

/** Claims due deliveries ahead of the senders. */
async function* claimed(): AsyncGenerator<Delivery, void> {
  let ahead = claim();
  for (let batch = await ahead; batch.length > 0; batch = await ahead) {
    ahead = claim();
    yield* batch;
  }
}

async function claim(): Promise<readonly Delivery[]> {
  const { rows } = await pool.query<Delivery>({
    name: 'claim',
    text: `with due as (
        select delivery_id from deliveries where state = 'pending' and not claimed and due_at <= now()
        order by due_at limit ${CLAIM} for update skip locked
      )
      update deliveries set claimed = true from due where deliveries.delivery_id = due.delivery_id
      returning deliveries.delivery_id, endpoint_id, body`,
  });
  return rows;
}

async function send(
  { delivery_id, endpoint_id, body }: Delivery,
  url: string,
  key: Buffer,
): Promise<Attempt> {
  const started_at = new Date();
  const began = performance.now();
  const timestamp = Math.floor(started_at.getTime() / 1000);
  const signature = createHmac('sha256', key).update(`${delivery_id}.${timestamp}.${body}`).digest('base64');
  const response = await request(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'user-agent': 'svc-Webhooks/1.0',
      'webhook-id': delivery_id,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': `v1,${signature}`,
    },
    body,
    dispatcher: agent,
  });
  const response_excerpt = Buffer.from(await response.body.arrayBuffer());
  const duration_ms = Math.round(performance.now() - began);
  const outcome = response.statusCode < 300 ? 'succeeded' : 'retry';
  const http_status = response.statusCode;
  return { delivery_id, endpoint_id, started_at, duration_ms, outcome, http_status, response_excerpt };
}

async function record(attempts: readonly Attempt[]): Promise<readonly void[]> {
  const columns = [
    'delivery_id',
    'endpoint_id',
    'started_at',
    'duration_ms',
    'outcome',
    'http_status',
    'response_excerpt',
  ] as const;
  await pool.query({
    name: 'record',
    text: `with ended as (
        select * from unnest($1::uuid[], $2::uuid[], $3::timestamptz[], $4::int[], $5::text[], $6::int[],
          $7::bytea[]) as a (delivery_id, endpoint_id, started_at, duration_ms, outcome, http_status, excerpt)
      ), recorded as (
        insert into attempts (delivery_id, attempt, endpoint_id, started_at, duration_ms, outcome, http_status,
          response_excerpt)
        select delivery_id, 1, endpoint_id, started_at, duration_ms, outcome, http_status, excerpt from ended
      )
      update deliveries set state = outcome, attempts = 1, claimed = false, finished_at = clock_timestamp()
      from ended where deliveries.delivery_id = ended.delivery_id`,
    values: columns.map((name) => attempts.map((attempt) => attempt[name])),
  });
  return attempts.map(() => undefined);
}
