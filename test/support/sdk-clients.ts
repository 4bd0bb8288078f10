import { Disburse, DisburseExchange } from '../../packages/sdk/src/index.js';
import type { TestApp } from './app.js';

/** The clients of packages/sdk for a service in this process, and `<METHOD> <path>` of every call. */
export function sdkClients(app: TestApp): {
  readonly merchant: Disburse;
  readonly exchange: DisburseExchange;
  readonly sent: ReadonlySet<string>;
} {
  const sent = new Set<string>();
  const recording: typeof fetch = (input, init) => {
    const { pathname } = new URL(String(input));
    sent.add(`${init?.method} ${pathname}`);
    return fetch(input, init);
  };
  const options = { baseUrl: app.url, fetch: recording };
  const { apiKey, privateKey } = app.merchant.credentials;
  const { credentials } = app.exchange.signing;
  return {
    merchant: new Disburse({ ...options, apiKey, privateKey }),
    exchange: new DisburseExchange({ ...options, ...credentials }),
    sent,
  };
}
