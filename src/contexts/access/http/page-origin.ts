import type { FastifyRequest } from 'fastify';
import { Refusal, type Problem } from '../../../platform/http/problem.js';

const LOOPBACK = /^(localhost|127\.0\.0\.1|\[::1\])(:[0-9]{1,5})?$/i;

const FOREIGN = { status: 403, detail: 'The request comes from another site' };
/** The own origin of the console or the portal, and requests that come from it. */
export abstract class PageOrigin {
  constructor(
    /** The setting with its address. */
    private readonly setting: string,
    private readonly url: string | null,
  ) {}

  /**
   * Of the setting. On loopback also the address that the browser has, so that a tunnel and the sandbox work with any name of
   * this machine. Throws Refusal (403) where neither applies.
   */
  of({ headers, protocol }: FastifyRequest): string {
    const own = this.url === null ? null : new URL(this.url);
    const { host = '' } = headers;
    if (LOOPBACK.test(host) && (own === null || LOOPBACK.test(own.host)))
      return `${protocol}://${host.toLowerCase()}`;
    if (own === null) throw new Refusal(this.noUrl());
    return own.origin;
  }

  /** Throws Refusal (403) for a write that another site's page sent, or a program without an `Origin`. */
  require(request: FastifyRequest): void {
    const { origin, 'sec-fetch-site': site } = request.headers;
    if (origin !== this.of(request) || (site !== undefined && site !== 'same-origin'))
      throw new Refusal(FOREIGN);
  }

  private noUrl(): Problem {
    return { status: 403, detail: `${this.setting} is not set: the page is available on this machine alone` };
  }
}
