import { createHmac, timingSafeEqual } from 'node:crypto';
import fastify, { type FastifyInstance, type FastifyRequest } from 'fastify';
import pg from 'pg';

const DRIFT_SECONDS = 300;

/** Private keys by merchant id. */
const keys = new Map(Object.entries(JSON.parse(process.env['KEYS'] ?? '{}') as Record<string, string>));

export const barePool = (): pg.Pool =>
  new pg.Pool({ connectionString: process.env['DATABASE_URL'], max: Number(process.env['POOL_SIZE']) });

/** The minimal HTTP shell: Fastify, raw bodies, signature check (contract.md 2.2) with keys from a map. */
export function bareShell(): FastifyInstance {
  const app = fastify({ logger: false, keepAliveTimeout: 60_000 });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) =>
    done(null, body),
  );
  app.get('/health/ready', async () => ({ status: 'ok' }));
  app.addHook('preHandler', async (request, reply) => {
    if (request.routeOptions.url === '/health/ready') return;
    if (!isSigned(request)) return reply.code(401).send({ title: 'Invalid request signature' });
  });
  return app;
}

export const rawBody = (request: FastifyRequest): Buffer =>
  Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);

function isSigned(request: FastifyRequest): boolean {
  const { 'svc-api-key': apiKey, 'svc-timestamp': timestamp, 'svc-signature': signature } = request.headers;
  if (typeof apiKey !== 'string' || typeof timestamp !== 'string' || typeof signature !== 'string')
    return false;
  if (Math.abs(Date.now() / 1000 - Number(timestamp)) > DRIFT_SECONDS) return false;
  const key = keys.get(apiKey);
  if (key === undefined) return false;
  const query = request.url.indexOf('?');
  const path = query === -1 ? request.url : request.url.slice(0, query);
  const expected = createHmac('sha256', key)
    .update(`${timestamp}\n${request.method}\n${path}\n`)
    .update(rawBody(request))
    .digest();
  const given = Buffer.from(signature, 'hex');
  return given.length === expected.length && timingSafeEqual(given, expected);
}
