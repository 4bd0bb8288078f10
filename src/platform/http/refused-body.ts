import type { FastifyReply, FastifyRequest } from 'fastify';

/** How much of a refused body is read and thrown away before the connection is cut. */
const MOST_DISCARDED_BYTES = 16 * 1_048_576;

/**
 * Reads on after a refusal. Closing a connection with unread bytes resets it, and a client that is still sending would then
 * see the reset instead of the answer.
 */
export function drainRefusedBody(request: FastifyRequest, reply: FastifyReply): void {
  reply.removeHeader('connection');
  let discarded = 0;
  request.raw.on('data', (chunk: Buffer) => {
    discarded += chunk.length;
    if (discarded > MOST_DISCARDED_BYTES) request.raw.destroy();
  });
}
