import type { FastifyReply, FastifyRequest } from 'fastify';
import type { MerchantCredentials } from './merchant-directory.js';

/** How the requests of one API show which merchant sends them; the rest of the edge is the same for every API. */
export interface Authentication {
  /** Path of the API. Everything under it has to be authentic, unknown paths too. */
  readonly prefix: string;
  /** Its operations take their inputs from the query string: that is what tells one from another under an Idempotency-Key. */
  readonly inputsInQuery?: boolean;
  /**
   * Before the body is read: the merchant whom the request names. What cannot be authentic is refused without a byte
   * of its body in memory; null then. Rejects when the directory is unavailable.
   */
  recognise(request: FastifyRequest, reply: FastifyReply): Promise<MerchantCredentials | null>;
  /** With the body read: whether the merchant sent the request; false when the response was sent. */
  verify(request: FastifyRequest, reply: FastifyReply, merchant: MerchantCredentials): boolean;
}

/** The {@link Authentication} of every API. Whoever serves one registers it in `onModuleInit`. */
export class Authentications {
  private readonly all: Authentication[] = [];

  register(authentication: Authentication): void {
    this.all.push(authentication);
  }

  /** Null for a path that is under no API: it is open to everybody. */
  of(path: string): Authentication | null {
    return this.all.find(({ prefix }) => path === prefix || path.startsWith(`${prefix}/`)) ?? null;
  }
}
