import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { startTestApp, type TestApp } from '../support/app.js';
import { send, type ApiResponse } from '../support/signed-client.js';

const NOWHERE = '/v1/nothing';
const TITLE = 'Invalid API key or signature';

describe('the door of the exchange', () => {
  let app: TestApp;
  let ask: (target: string, headers?: Record<string, string>) => Promise<ApiResponse>;

  beforeAll(async () => {
    app = await startTestApp();
    ask = (target, headers = {}) => send(`${app.url}${target}`, { headers });
  });
  afterAll(() => app.close());

  it('refuses a key that is missing, malformed or unknown, in the same words, and tells nobody which paths exist', async () => {
    const refusals = await Promise.all(
      ['', '?api_key=', '?api_key=nobody', `?api_key=${randomUUID()}`].flatMap((query) =>
        [NOWHERE, '/v1/tokens', '/v1/orders', '/v1'].map((path) => ask(path + query)),
      ),
    );
    for (const refused of refusals) {
      expect(refused.status).toBe(401);
      expect(refused.headers['content-type']).toMatch(/^application\/problem\+json/);
      expect(refused.headers['request-id']).toMatch(/^[0-9a-f-]{36}$/);
      expect(refused.json()).toEqual({
        ...{ type: 'about:blank', title: TITLE, status: 401, instance: null, errors: {} },
        detail: 'A valid API key is required in the query parameter api_key',
      });
    }
    const byHeader = await ask(NOWHERE, { 'x-api-key': app.exchange.open.credentials.apiKey });
    expect(byHeader.status).toBe(401);
    const bySvcKey = await ask(`${NOWHERE}?api_key=${app.merchant.credentials.apiKey}`);
    expect(bySvcKey.status).toBe(401);
  });

  it('lets a key in, whatever the case of its letters', async () => {
    for (const client of [app.exchange.signing, app.exchange.open]) {
      expect((await client.get(NOWHERE)).status).toBe(404);
      const { apiKey } = client.credentials;
      expect((await ask(`${NOWHERE}?api_key=${apiKey.toUpperCase()}`)).status).toBe(404);
    }
  });
});
