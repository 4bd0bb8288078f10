import { parseSetCookie } from 'cookie';
import { send, type ApiResponse } from '../http/signed-client.js';

interface CookieCall {
  readonly method?: string;
  readonly body?: object | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A browser without scripts. It keeps cookies for each host, and follows redirects on request. */
export class CookieClient {
  private readonly cookies = new Map<string, Map<string, string>>();

  constructor(
    /** The `Origin` of its writes. */
    readonly origin: string,
  ) {}

  async call(path: string, { method = 'GET', body, headers = {} }: CookieCall = {}): Promise<ApiResponse> {
    const url = new URL(path, this.origin);
    const jar = this.jarOf(url);
    const response = await send(url.href, {
      method,
      headers: {
        ...(method === 'GET' ? {} : { origin: this.origin }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(jar.size > 0 && { cookie: [...jar].map(([name, value]) => `${name}=${value}`).join('; ') }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    for (const line of [response.headers['set-cookie'] ?? []].flat()) {
      const { name, value = '', maxAge, expires } = parseSetCookie(line);
      if (maxAge === 0 || (expires !== undefined && expires <= new Date())) jar.delete(name);
      else jar.set(name, value);
    }
    return response;
  }

  post(path: string, body: object = {}, headers: CookieCall['headers'] = {}): Promise<ApiResponse> {
    return this.call(path, { method: 'POST', body, headers });
  }

  /** Follows redirects to the first other response. `seen` gets each address. */
  async follow(path: string, seen: string[] = []): Promise<ApiResponse> {
    let at = new URL(path, this.origin);
    for (let n = 0; n < 20; n += 1) {
      const response = await this.call(at.href);
      const { location } = response.headers;
      if (location === undefined) return response;
      at = new URL(location, at);
      seen.push(at.href);
    }
    throw new Error(`${path} redirects without end`);
  }

  cookie(name: string): string | undefined {
    return this.jarOf(new URL(this.origin)).get(name);
  }

  setCookie(name: string, value: string): void {
    this.jarOf(new URL(this.origin)).set(name, value);
  }

  private jarOf({ host }: URL): Map<string, string> {
    const jar = this.cookies.get(host) ?? new Map<string, string>();
    this.cookies.set(host, jar);
    return jar;
  }
}
