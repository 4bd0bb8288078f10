import { createHmac, timingSafeEqual } from 'node:crypto';
import fastify, { type FastifyInstance, type FastifyRequest } from 'fastify';

const DRIFT_SECONDS = 300;

/** Private keys by merchant id. */
export type Keys = ReadonlyMap<string, string>;

type SignatureCheck = (request: FastifyRequest, keys: Keys) => boolean;

/**
 * The least HTTP shell with a signature check, by default of the merchant API (contract.md 2.2): Fastify, the body as
 * raw bytes, keys from a map. A row measures what a route adds to it.
 */
export function bareShell(keys: Keys, isSigned: SignatureCheck = isMerchants): FastifyInstance {
  const app = fastify({ logger: false, keepAliveTimeout: 60_000 });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) =>
    done(null, body),
  );
  app.get('/health/ready', async () => ({ status: 'ok' }));
  app.addHook('preHandler', async (request, reply) => {
    if (request.routeOptions.url === '/health/ready') return;
    if (!isSigned(request, keys)) return reply.code(401).send({ title: 'Invalid request signature' });
  });
  return app;
}

export const rawBody = (request: FastifyRequest): Buffer =>
  Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);

function isMerchants(request: FastifyRequest, keys: Keys): boolean {
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
