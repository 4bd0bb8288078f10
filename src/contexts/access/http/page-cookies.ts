import { parseCookie, stringifySetCookie } from 'cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../../../platform/config/config.js';

const LOOPBACK = /^(localhost|127\.0\.0\.1|\[::1\])$/;

/** Without TLS, but on this machine alone. */
export function isPlainLoopback(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === 'http:' && LOOPBACK.test(hostname);
}

const MAX_COOKIE_BYTES = 8192;

type SameSite = 'strict' | 'lax';

/**
 * Cookies of the console and the portal: `__Host-`, HttpOnly, Secure, for no other host and the whole site; without prefix
 * and Secure in the sandbox on loopback, where no TLS is (admin-api.md 5).
 */
export abstract class PageCookies {
  constructor(
    /** The name of the cookie with the session. */
    private readonly name: string,
    private readonly mode: Config['mode'],
    /** The address of the page, where it is set. */
    private readonly url: string | null,
  ) {}

  /** The token of the session; null without one. */
  session(request: FastifyRequest): string | null {
    return this.read(request, this.name);
  }

  setSession(reply: FastifyReply, token: string, seconds: number): void {
    this.set(reply, this.name, token, { sameSite: 'strict', seconds });
  }

  clearSession(reply: FastifyReply): void {
    this.set(reply, this.name, '', { sameSite: 'strict', seconds: 0 });
  }

  read({ headers }: FastifyRequest, name: string): string | null {
    const { cookie = '' } = headers;
    if (cookie === '' || cookie.length > MAX_COOKIE_BYTES) return null;
    return parseCookie(cookie)[this.nameOf(name)] ?? null;
  }

  /** `lax`: another site's page may navigate here with it, as an identity provider does. 0 seconds: deletes it. */
  set(
    reply: FastifyReply,
    name: string,
    value: string,
    { sameSite, seconds }: { readonly sameSite: SameSite; readonly seconds: number },
  ): void {
    const set = [reply.getHeader('set-cookie') ?? []].flat().map(String);
    const cookie = stringifySetCookie({
      name: this.nameOf(name),
      value,
      path: '/',
      httpOnly: true,
      secure: this.isSecure,
      sameSite,
      maxAge: seconds,
    });
    reply.header('set-cookie', [...set, cookie]);
  }

  private nameOf(name: string): string {
    return this.isSecure ? `__Host-${name}` : name;
  }

  private get isSecure(): boolean {
    return this.mode === 'production' || (this.url !== null && !isPlainLoopback(this.url));
  }
}
