import { randomBytes } from 'node:crypto';
import type { PayFacts, PayOrder } from '../../../src/contexts/exchange/pay/pay.dto.js';
import { PAY_PAGE } from '../../../src/contexts/exchange/pay/pay-page.controller.js';
import { signedQuery } from '../../../src/contexts/exchange/orders/order-signature.guard.js';
import type { TestApp } from '../app.js';
import { exchangeSignature, type ExchangeClient } from './exchange-client.js';
import { factsIn, pageUrl } from '../onboarding/people.js';
import { ADDRESS } from './order-fixtures.js';

export { ADDRESS, OTHER_ADDRESS } from './order-fixtures.js';

/** `http://127.0.0.1:<port>` of the pay widget. */
export const payUrl = (app: TestApp): string => pageUrl(app.app, PAY_PAGE);

export const widgetUrl = (app: TestApp, query: Readonly<Record<string, string>>): string =>
  `${payUrl(app)}/widget?${new URLSearchParams(query).toString()}`;

/** The query of option 2 (contract.md 26.1), signed over its own address by default. */
export function signedBy(
  { credentials: { apiKey, secret } }: ExchangeClient,
  address = ADDRESS,
  signs = address,
): Record<string, string> {
  return { api_key: apiKey, withdraw_address: address, signature: exchangeSignature(secret, signs) };
}

/** A `signed_url` like that of the configuration, valid for `lastsMs`. */
export function signedUrl(
  app: TestApp,
  { credentials: { apiKey, secret } }: ExchangeClient,
  parameters: Readonly<Record<string, string>> = {},
  lastsMs = 1_800_000,
): string {
  const all = { api_key: apiKey, token: 'sol', withdraw_address: ADDRESS, ...parameters };
  const expiresAt = new Date(Date.now() + lastsMs);
  const nonce = randomBytes(16).toString('hex');
  return `${payUrl(app)}/widget?${signedQuery(all, { secret, nonce, expiresAt })}`;
}

/** Returns today's orders that pages created for a user. */
export async function ordersOf(app: TestApp, userId: string): Promise<Record<string, string>[]> {
  const day = new Date().toISOString().slice(0, 10);
  const list = await app.exchange.signing.list({ start_date: day, end_date: day, user_id: userId });
  return list.json<{ orders: Record<string, string>[] }>().orders;
}

export const navigate = (url: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
  fetch(url, { headers: { accept: 'text/html', ...headers } });

/** The calls of an open page. */
export class Visitor {
  constructor(
    private readonly app: TestApp,
    readonly session: string,
  ) {}

  static async at(app: TestApp, url: string): Promise<Visitor> {
    const { session } = await factsIn<PayFacts>(await navigate(url));
    return new Visitor(app, session);
  }

  call(path: string, body?: object): Promise<Response> {
    const headers = { authorization: `Bearer ${this.session}`, 'content-type': 'application/json' };
    const post = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    return fetch(`${payUrl(this.app)}/widget/api/${path}`, { headers, ...post });
  }

  create(amount = '100', request = randomBytes(16).toString('hex')): Promise<Response> {
    return this.call('orders', { pair_id: 'USDCSOL', amount_from: amount, request_id: request });
  }

  async order(amount?: string): Promise<PayOrder> {
    return (await (await this.create(amount)).json()) as PayOrder;
  }
}
