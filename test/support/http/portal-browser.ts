import { randomUUID } from 'node:crypto';
import { CookieClient } from '../access/cookie-client.js';
import type { ApiResponse, SignedClient } from './signed-client.js';

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

/** The browser of a person at the portal. */
export class PortalBrowser extends CookieClient {
  /** Opens the link in a new browser. Throws if the link does not work. */
  static async enter(url: string): Promise<PortalBrowser> {
    const browser = new PortalBrowser(new URL(url).origin);
    const response = await browser.openLink(url);
    if (response.status !== 204) throw new Error(response.text);
    return browser;
  }

  /** Posts the code in the fragment, like the page. */
  openLink(url: string, headers: Record<string, string> = {}): Promise<ApiResponse> {
    return this.post('/session', { code: new URL(url).hash.slice(1) }, headers);
  }

  get(path: string, headers: Record<string, string> = {}): Promise<ApiResponse> {
    return this.call(path, { headers });
  }

  override post(
    path: string,
    body?: object,
    headers: Record<string, string> = {},
    method = 'POST',
  ): Promise<ApiResponse> {
    return this.call(path, { method, body, headers });
  }

  get token(): string {
    return this.cookie('portal')!;
  }
}
