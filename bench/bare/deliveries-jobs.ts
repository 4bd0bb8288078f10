/**
 * One BullMQ job per delivery, on the PostgreSQL backend or on Redis by the scheme of QUEUE_URL: each job signs and
 * sends one delivery and inserts the row of its attempt. POST /fill turns the table of deliveries into jobs, POST /run
 * works them off.
 */
import {
  createPostgresBackend,
  Queue,
  runMigrations,
  setDefaultBackendFactory,
  Worker,
  type ConnectionOptions,
  type Job,
} from 'bullmq';
import { Redis } from 'ioredis';
import pg from 'pg';
import { BARE_TABLES, BareSender, type BareDelivery } from './deliveries-send.js';
import { onRun } from './on-run.js';

const QUEUE = 'deliveries';
const ADD = 1000;
const UNDER_WAY = Number(process.env['UNDER_WAY']);
const poolSize = Number(process.env['POOL_SIZE']);

const pool = new pg.Pool({ connectionString: process.env['DATABASE_URL'], max: poolSize });
await pool.query(BARE_TABLES);
const connection = await connect(process.env['QUEUE_URL']!);
const queue = new Queue<BareDelivery>(QUEUE, {
  connection,
  defaultJobOptions: { removeOnComplete: true, removeOnFail: true },
});
onRun(Number(process.env['PORT']), { '/fill': fill, '/run': drain });

async function connect(url: string): Promise<ConnectionOptions> {
  if (url.startsWith('redis:')) return new Redis(url, { maxRetriesPerRequest: null });
  const schema = 'bullmq';
  const jobs = new pg.Pool({ connectionString: url, max: poolSize, options: `-c search_path=${schema}` });
  const client = await jobs.connect();
  await runMigrations(client, schema);
  client.release();
  setDefaultBackendFactory(createPostgresBackend);
  // BullMQ types its connections for Redis; the PostgreSQL backend takes a pool in their place.
  return jobs as unknown as ConnectionOptions;
}

async function fill(): Promise<void> {
  const { rows } = await pool.query<BareDelivery>('select delivery_id, endpoint_id, body from deliveries');
  for (let from = 0; from < rows.length; from += ADD)
    await queue.addBulk(rows.slice(from, from + ADD).map((data) => ({ name: 'deliver', data })));
}

async function drain(): Promise<void> {
  const sender = await BareSender.load(pool);
  const worker = new Worker<BareDelivery>(QUEUE, (job) => deliver(sender, job), {
    connection,
    concurrency: UNDER_WAY,
  });
  await new Promise<void>((resolve, reject) => {
    worker.once('drained', resolve);
    worker.on('error', reject);
    worker.on('failed', (_job, error) => reject(error));
  });
  await worker.close();
}

async function deliver(sender: BareSender, job: Job<BareDelivery>): Promise<void> {
  const attempt = await sender.send(job.data);
  await pool.query({
    name: 'record',
    text: `insert into attempts (delivery_id, attempt, endpoint_id, started_at, duration_ms, outcome, http_status,
        response_excerpt)
      values ($1, 1, $2, $3, $4, $5, $6, $7)`,
    values: [
      attempt.delivery_id,
      attempt.endpoint_id,
      attempt.started_at,
      attempt.duration_ms,
      attempt.outcome,
      attempt.http_status,
      attempt.response_excerpt,
    ],
  });
}
