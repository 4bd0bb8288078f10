import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../config/config.js';

/** A year. Subdomains are left out: they are not ours to decide about. */
const HSTS = 'max-age=31536000';

/**
 * Headers of every response, set before anything else: what may be kept says so itself. `Strict-Transport-Security` where
 * HTTPS is demanded, and over HTTPS alone (RFC 6797).
 */
export function setBaseHeaders(
  request: FastifyRequest,
  reply: FastifyReply,
  { requireHttps }: Pick<Config, 'requireHttps'>,
): void {
  reply.header('request-id', request.id);
  reply.header('cache-control', 'no-store');
  if (requireHttps && request.protocol === 'https') reply.header('strict-transport-security', HSTS);
}
