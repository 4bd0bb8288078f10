import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../../../../platform/config/config.js';
import { addressLimit, AddressRateLimiter } from '../../../../platform/http/address.js';
import { connectionBounds, guardConnections } from '../../../../platform/http/connections.js';
import { HTTPS_REQUIRED, noticeProxies } from '../../../../platform/http/https.js';
import { parseJsonBody } from '../../../../platform/http/json-body.js';
import { HOST_REQUIRED, type Problem } from '../../../../platform/http/problem.js';
import { tooManyRequests } from '../../../../platform/http/rate-limit.js';
import { recordRequest } from '../../../../platform/http/request-record.js';
import { isHealthPath, newRequestState } from '../../../../platform/http/request-state.js';
import type { Log } from '../../../../platform/telemetry/logger.js';

/** Gives a request its state and its id in the response, before anything else. */
export function receive(request: FastifyRequest, reply: FastifyReply): void {
  request.edge = newRequestState();
  request.edge.route = request.routeOptions?.url ?? null;
  reply.header('request-id', request.id);
}

export type GuardConfig = Pick<
  Config,
  | 'rateLimitPerMinute'
  | 'rateLimitPerIpPerMinute'
  | 'requireHttps'
  | 'trustProxy'
  | 'maxConnections'
  | 'maxConnectionsPerIp'
>;

/** What the API's edge does around every request: an id, HTTPS, a limit per address, a line in the log. */
export function guard(
  server: FastifyInstance,
  config: GuardConfig,
  log: Log,
  refuse: (request: FastifyRequest, reply: FastifyReply, problem: Problem) => void,
): void {
  guardConnections(server.server, connectionBounds(config));
  noticeProxies(server.server, config, log);
  const addresses = new AddressRateLimiter(addressLimit(config));
  server.decorateRequest('edge');
  server.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async (request: FastifyRequest, body: Buffer) => {
      request.edge.rawBody = body;
      return parseJsonBody(request.edge.rawBody);
    },
  );
  server.addHook('onRequest', (request, reply, done) => {
    receive(request, reply);
    if (request.raw.headers.host === undefined && request.raw.httpVersion === '1.1') {
      refuse(request, reply, HOST_REQUIRED);
      return;
    }
    if (config.requireHttps && request.protocol !== 'https' && !isHealthPath(request)) {
      refuse(request, reply, HTTPS_REQUIRED);
      return;
    }
    const blockedUntil = addresses.take(request.ip);
    if (blockedUntil === null) done();
    else refuse(request, reply, tooManyRequests(blockedUntil, Date.now()));
  });
  server.addHook('onResponse', (request, reply, done) => {
    recordRequest(log, request, reply);
    done();
  });
}
