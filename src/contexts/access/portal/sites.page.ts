import { Inject, Injectable, Res } from '@nestjs/common';
import { parseCookie, stringifySetCookie } from 'cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { httpConfig, type HttpConfig } from '../../../platform/config/config.js';
import { Refusal } from '../../../platform/http/problem.js';

const MAX_COOKIE_BYTES = 8192;
const LOOPBACK = /^(localhost|127\.0\.0\.1|\[::1\])(:[0-9]{1,5})?$/i;

const FOREIGN = { status: 403, detail: 'The request comes from another site' };

/** Returns false for a read by a timer of the page, which does not keep a session alive (admin-api.md 5). */
export function isActivity(request: FastifyRequest): boolean {
  return isWrite(request) || request.headers['disburse-background'] !== 'true';
}

export function isWrite({ method }: FastifyRequest): boolean {
  return method !== 'GET' && method !== 'HEAD';
}

/** Injects the reply, for a handler that sets cookies and leaves the response to Nest. */
export const PageReply = (): ParameterDecorator => Res({ passthrough: true });

export function isPlainLoopback(url: string): boolean {
  const { protocol, host } = new URL(url);
  return protocol === 'http:' && LOOPBACK.test(host);
}

/** The origin and cookies of the console or portal. In the sandbox, loopback has no TLS (admin-api.md 5). */
abstract class PageSite {
  constructor(
    /** The name of the session cookie. */
    private readonly name: string,
    /** The name of the setting for `url`, for error messages. */
    private readonly setting: string,
    private readonly url: string | null,
    private readonly mode: HttpConfig['mode'],
  ) {}

  /** Returns the configured origin or, on loopback, the origin of the Host header. Throws Refusal (403). */
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

  /** Returns the token in the session cookie, or null. */
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

  /** Sets a cookie; 0 seconds deletes it. `lax` also sends it on a redirect from an identity provider. */
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
