import { Inject, Injectable } from '@nestjs/common';
import { parseCookie, stringifySetCookie } from 'cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { httpConfig, type HttpConfig } from '../../../platform/config/config.js';
import { Refusal } from '../../../platform/http/problem.js';

const MAX_COOKIE_BYTES = 8192;
const LOOPBACK = /^(localhost|127\.0\.0\.1|\[::1\])(:[0-9]{1,5})?$/i;

const FOREIGN = { status: 403, detail: 'The request comes from another site' };

/**
 * Whether the request shows that the person is there: all but reads that the page sends on a timer, with
 * `Disburse-Background: true`. A session on which nothing but these arrives is idle (admin-api.md 5).
 */
export function isActivity({ method, headers }: FastifyRequest): boolean {
  const isRead = method === 'GET' || method === 'HEAD';
  return !isRead || headers['disburse-background'] !== 'true';
}

/** Checks for an address without TLS on this machine. */
export function isPlainLoopback(url: string): boolean {
  const { protocol, host } = new URL(url);
  return protocol === 'http:' && LOOPBACK.test(host);
}

/**
 * The site of the console or the portal: its origin, and its cookies. These are `__Host-`, HttpOnly, Secure, for no other
 * host and the whole site; without prefix and Secure in the sandbox on loopback, where no TLS is (admin-api.md 5).
 */
abstract class PageSite {
  constructor(
    /** The name of the cookie with the session. */
    private readonly name: string,
    /** The setting with its address, and its value. */
    private readonly setting: string,
    private readonly url: string | null,
    private readonly mode: HttpConfig['mode'],
  ) {}

  /**
   * The origin of the setting. On loopback also the address that the browser has, so that a tunnel and the sandbox work with
   * any name of this machine. Throws Refusal (403) where neither applies.
   */
  findOrigin({ headers, protocol }: FastifyRequest): string {
    const own = this.url === null ? null : new URL(this.url);
    const { host = '' } = headers;
    if (LOOPBACK.test(host) && (own === null || LOOPBACK.test(own.host)))
      return `${protocol}://${host.toLowerCase()}`;
    if (own !== null) return own.origin;
    const detail = `${this.setting} is not set: the page is available on this machine alone`;
    throw new Refusal({ status: 403, detail });
  }

  /** Throws Refusal (403) for a write that another site's page sent, or a program without an `Origin`. */
  requireOwnOrigin(request: FastifyRequest): void {
    const { origin, 'sec-fetch-site': site } = request.headers;
    if (origin !== this.findOrigin(request) || (site !== undefined && site !== 'same-origin'))
      throw new Refusal(FOREIGN);
  }

  /** The token of the session; null without one. */
  session(request: FastifyRequest): string | null {
    return this.read(request, this.name);
  }

  setSession(reply: FastifyReply, token: string, seconds: number): void {
    this.set(reply, this.name, token, { sameSite: 'strict', seconds });
  }

  clearSession(reply: FastifyReply): void {
    this.setSession(reply, '', 0);
  }

  read({ headers }: FastifyRequest, name: string): string | null {
    const { cookie = '' } = headers;
    if (cookie === '' || cookie.length > MAX_COOKIE_BYTES) return null;
    return parseCookie(cookie)[this.toName(name)] ?? null;
  }

  /** `lax`: another site's page may navigate here with it, as an identity provider does. 0 seconds: deletes it. */
  set(
    reply: FastifyReply,
    name: string,
    value: string,
    { sameSite, seconds: maxAge }: { readonly sameSite: 'strict' | 'lax'; readonly seconds: number },
  ): void {
    const options = { path: '/', httpOnly: true, secure: this.isSecure, sameSite, maxAge };
    const set = [reply.getHeader('set-cookie') ?? []].flat().map(String);
    reply.header('set-cookie', [...set, stringifySetCookie({ name: this.toName(name), value, ...options })]);
  }

  private toName(name: string): string {
    return this.isSecure ? `__Host-${name}` : name;
  }

  private get isSecure(): boolean {
    return this.mode === 'production' || (this.url !== null && !isPlainLoopback(this.url));
  }
}

@Injectable()
export class ConsoleSite extends PageSite {
  constructor(@Inject(httpConfig.KEY) { mode, adminUrl }: HttpConfig) {
    super('console', 'ADMIN_URL', adminUrl, mode);
  }
}

@Injectable()
export class PortalSite extends PageSite {
  constructor(@Inject(httpConfig.KEY) { mode, portalUrl }: HttpConfig) {
    super('portal', 'PORTAL_URL', portalUrl, mode);
  }
}
