import { randomUUID } from 'node:crypto';
import type { ApiResponse, SignedClient } from './signed-client.js';
import { send } from './signed-client.js';

interface CreatedSession {
  readonly portal_session: {
    readonly id: string;
    readonly status: string;
    readonly scopes: readonly string[];
  };
  readonly url: string;
}

/** Opens a session of the portal as the merchant's backend. */
export async function createPortalSession(
  merchant: SignedClient,
  body: object = {},
): Promise<CreatedSession> {
  const response = await merchant.post('/merchants/v1/portal_sessions', body, randomUUID());
  if (response.status !== 201) throw new Error(response.text);
  return response.json<CreatedSession>();
}

/** A browser at the portal: it holds the cookie and sends the origin with writes. */
export class PortalBrowser {
  private cookie = '';

  constructor(readonly origin: string) {}

  /** The browser of a person who followed the link. Throws when the link does not work. */
  static async enter(url: string): Promise<PortalBrowser> {
    const browser = new PortalBrowser(new URL(url).origin);
    const response = await browser.follow(url);
    if (response.status !== 204) throw new Error(response.text);
    return browser;
  }

  /** Posts the code in the fragment, as the page does. */
  async follow(url: string, headers: Record<string, string> = {}): Promise<ApiResponse> {
    const response = await this.post('/session', { code: new URL(url).hash.slice(1) }, headers);
    const set = [response.headers['set-cookie'] ?? []].flat()[0];
    if (set !== undefined) this.cookie = set.split(';')[0]!;
    return response;
  }

  get(path: string, headers: Record<string, string> = {}): Promise<ApiResponse> {
    return send(`${this.origin}${path}`, { headers: { ...this.session(), ...headers } });
  }

  post(
    path: string,
    body?: object,
    headers: Record<string, string> = {},
    method = 'POST',
  ): Promise<ApiResponse> {
    const text = body === undefined ? undefined : JSON.stringify(body);
    return send(`${this.origin}${path}`, {
      method,
      headers: {
        ...this.session(),
        origin: this.origin,
        ...(text === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(text === undefined ? {} : { body: text }),
    });
  }

  /** The value of the cookie of its session. */
  get token(): string {
    return this.cookie.slice(this.cookie.indexOf('=') + 1);
  }

  private session(): Record<string, string> {
    return this.cookie === '' ? {} : { cookie: this.cookie };
  }
}
