// The API of the portal, by a session as a browser has it (docs/portal.md).
import { apiError, ConnectionError, problemOf } from '@disburse/sdk';
import { Problem } from './terminal.mjs';

const TIMEOUT_MS = 30_000;

/** A session of the portal. Calls reject as those of the client do. */
export class Portal {
  constructor({ portalUrl, cookie }) {
    this.portalUrl = portalUrl;
    this.cookie = cookie;
  }

  /** Begins the session that the link is for: the link is used up. */
  static async enter(url) {
    const { origin, hash } = new URL(url);
    const portal = new Portal({ portalUrl: origin, cookie: '' });
    const { headers } = await portal.send('POST', '/session', { code: hash.slice(1) });
    portal.cookie = headers.getSetCookie()[0]?.split(';')[0] ?? '';
    return portal;
  }

  /** `{data}` of `GET {portal_url}/api/v1/<path>`. */
  async get(path, query = {}) {
    const given = Object.entries(query).filter(([, value]) => value !== undefined);
    const { text } = await this.send('GET', `/api/v1/${path}?${new URLSearchParams(given)}`);
    return { data: JSON.parse(text) };
  }

  async post(path) {
    const { text } = await this.send('POST', `/api/v1/${path}`);
    return { data: JSON.parse(text) };
  }

  async end() {
    await this.send('POST', '/logout');
  }

  async send(method, path, body) {
    const url = new URL(path, this.portalUrl);
    const headers = {
      ...(this.cookie && { cookie: this.cookie }),
      ...(method !== 'GET' && { origin: this.portalUrl }),
      ...(body && { 'content-type': 'application/json' }),
    };
    const sent = { method, headers, ...(body && { body: JSON.stringify(body) }) };
    const received = await exchange(url, sent).catch((cause) => {
      throw new ConnectionError(`${method} ${url.origin}${url.pathname}: no response`, { cause });
    });
    const { status, text } = received;
    if (status === 401 && path !== '/session')
      throw new Problem(
        'The session has ended. Run the command again where there are keys; otherwise disburse login.',
      );
    if (status >= 400) throw apiError(problemOf(status, text), received.headers.get('request-id'), null);
    return received;
  }
}

async function exchange(url, sent) {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const response = await fetch(url, { ...sent, redirect: 'error', signal });
  return { status: response.status, headers: response.headers, text: await response.text() };
}
