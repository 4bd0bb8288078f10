import { Inject, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { CONFIG, type Config } from '../../../../platform/config/config.js';
import { Refusal } from '../../../../platform/http/problem.js';

const LOOPBACK = /^(localhost|127\.0\.0\.1|\[::1\])(:[0-9]{1,5})?$/i;

const FOREIGN = { status: 403, detail: 'The request comes from another site' };
const NO_URL = {
  status: 403,
  detail: 'ADMIN_URL is not set: the console is available on this machine alone',
};

/** The console's own origin, and requests that come from it. */
@Injectable()
export class ConsoleOrigin {
  constructor(@Inject(CONFIG) private readonly config: Pick<Config, 'adminUrl'>) {}

  /**
   * Of ADMIN_URL. On loopback also the address that the browser has, so that a tunnel and the sandbox work with any name of
   * this machine. Throws Refusal (403) where neither applies.
   */
  of({ headers, protocol }: FastifyRequest): string {
    const { adminUrl } = this.config;
    const own = adminUrl === null ? null : new URL(adminUrl);
    const { host = '' } = headers;
    if (LOOPBACK.test(host) && (own === null || LOOPBACK.test(own.host)))
      return `${protocol}://${host.toLowerCase()}`;
    if (own === null) throw new Refusal(NO_URL);
    return own.origin;
  }

  /** Throws Refusal (403) for a write that another site's page sent, or a program without an `Origin`. */
  require(request: FastifyRequest): void {
    const { origin, 'sec-fetch-site': site } = request.headers;
    if (origin !== this.of(request) || (site !== undefined && site !== 'same-origin'))
      throw new Refusal(FOREIGN);
  }
}
