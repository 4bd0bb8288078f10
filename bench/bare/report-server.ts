/**
 * The two references of the report row in one process, each on its own path:
 * /group: signature check and one group-committed insert of the event;
 * /three: signature check, then claim, event and response committed one after the other.
 * The prefix is part of the path that is signed.
 */
import pg from 'pg';
import { EVENTS_TABLE, reported, type ReportBody } from './event.js';
import { GroupCommit } from './group-commit.js';
import { bareShell, rawBody } from './shell.js';
import type { FastifyRequest } from 'fastify';

const keys = new Map(Object.entries(JSON.parse(process.env['KEYS']!) as Record<string, string>));
const pool = new pg.Pool({
  connectionString: process.env['DATABASE_URL'],
  max: Number(process.env['POOL_SIZE']),
});

await pool.query(`
  create table if not exists group_events ${EVENTS_TABLE};
  create table if not exists three_events ${EVENTS_TABLE};
  create table if not exists three_claims (merchant_id text, key text, primary key (merchant_id, key));
  create table if not exists three_responses (merchant_id text, key text, body text, primary key (merchant_id, key));
`);

const app = bareShell(keys);
const group = new GroupCommit(pool);

app.post('/group/merchants/v1/payouts/report', async (request, reply) => {
  const { event, response } = reportOf(request);
  await group.append(event);
  return reply.code(201).type('application/json').send(response);
});

app.post('/three/merchants/v1/payouts/report', async (request, reply) => {
  const { event, response } = reportOf(request);
  const owner = [request.headers['svc-api-key'], request.headers['idempotency-key']];
  await pool.query({
    name: 'claim',
    text: 'insert into three_claims (merchant_id, key) values ($1, $2)',
    values: owner,
  });
  await pool.query({
    name: 'event',
    text: 'insert into three_events (id, stream, revision, type, data) values ($1, $2, 0, $3, $4)',
    values: [event.id, event.stream, event.type, event.data],
  });
  await pool.query({
    name: 'response',
    text: 'insert into three_responses (merchant_id, key, body) values ($1, $2, $3)',
    values: [...owner, response],
  });
  return reply.code(201).type('application/json').send(response);
});

await app.listen({ host: '127.0.0.1', port: Number(process.env['PORT']) });

function reportOf(request: FastifyRequest): ReturnType<typeof reported> {
  const body = JSON.parse(rawBody(request).toString()) as ReportBody;
  return reported(request.headers['svc-api-key'] as string, body, new Date());
}
