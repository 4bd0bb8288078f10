import type { FastifyRequest } from 'fastify';
import type { AdminCaller } from '../../../../platform/http/admin/admin-controller.js';

/** Sessions of the console, the other way into the admin API (admin-api.md 1). */
export abstract class ConsoleSessions {
  /** Whose session the cookie of the request is; null without one that is valid. Throws Refusal (403) for a write from another origin. */
  abstract find(request: FastifyRequest): Promise<AdminCaller | null>;
}
