import { Inject, Injectable, Res } from '@nestjs/common';
import { parseCookie, stringifySetCookie } from 'cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { httpConfig, type HttpConfig } from '../../../platform/config/config.js';
import { Refusal } from '../../../platform/http/problem.js';

const MAX_COOKIE_BYTES = 8192;
const LOOPBACK = /^(localhost|127\.0\.0\.1|\[::1\])(:[0-9]{1,5})?$/i;

const FOREIGN = { status: 403, detail: 'The request comes from another site' };

/** Returns false for a read by a timer of the page. A session with only such requests is idle (admin-api.md 5). */
export function isActivity(request: FastifyRequest): boolean {
  return isWrite(request) || request.headers['disburse-background'] !== 'true';
}

export function isWrite({ method }: FastifyRequest): boolean {
  return method !== 'GET' && method !== 'HEAD';
}

/** The reply of a handler that sets cookies and leaves the response to Nest. */
export const PageReply = (): ParameterDecorator => Res({ passthrough: true });

/** Checks for an address without TLS on this machine. */
export function isPlainLoopback(url: string): boolean {
  const { protocol, host } = new URL(url);
  return protocol === 'http:' && LOOPBACK.test(host);
}

/**
 * The origin and the cookies of the console or the portal. Cookies are HttpOnly, Secure and prefixed `__Host-`. In
 * the sandbox on loopback, which has no TLS, they are only HttpOnly (admin-api.md 5).
 */
abstract class PageSite {
  constructor(
    /** The name of the session's cookie. */
    private readonly name: string,
    /** The setting of its address. */
    private readonly setting: string,
    private readonly url: string | null,
    private readonly mode: HttpConfig['mode'],
  ) {}

  /**
   * Returns the configured origin. On loopback returns the origin in the browser, so that tunnels and the sandbox
   * work under any local host name. Throws Refusal (403) for any other host if no origin is configured.
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

  /** Throws Refusal (403) for a request from another site's page, or without an `Origin`. */
  requireOwnOrigin(request: FastifyRequest): void {
    const { origin, 'sec-fetch-site': site } = request.headers;
    if (origin !== this.findOrigin(request) || (site !== undefined && site !== 'same-origin'))
      throw new Refusal(FOREIGN);
  }

  /** Returns the token of the session, or null. */
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

  /** `lax` sends the cookie with a navigation from another site, such as an identity provider. 0 seconds deletes it. */
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
