import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { onTestApp } from '../../support/app.js';
import { exchangeSignature } from '../../support/exchange/exchange-client.js';
import { ADDRESS } from '../../support/exchange/exchange-orders.js';
import { payUrl } from '../../support/exchange/pay-page.js';

const ROUTES = [
  ...['GET /v1/tokens', 'HEAD /v1/tokens', 'POST /v1/orders', 'OPTIONS /v1/orders', 'GET /v1/nothing'],
  ...['GET /v1/merchant/orders', 'GET /v1/merchants/configuration'],
  'PATCH /v1/orders/00000000-0000-4000-8000-000000000000/cancel',
];
const PIECES = [
  ...['&', '=', '%', '%00', '%zz', '%ff', '%ed%a0%80', '+', ';', '[]', '[a]', '&a=1', '&=&=', '&&'],
  ...['__proto__', 'constructor', 'toString', 'hasOwnProperty', '&signature=', '&api_key='],
  ...[`&withdraw_address=${ADDRESS}`, '&withdraw_address_memo=%00', '&user_id=', '&pair_id=USDCSOL'],
  ...['&to_token=sol', '&token=sol', '&start_date=2026-01-01&end_date=2026-01-02', '&page_size=', '1e9'],
];
/** Bytes that may be in a request line, in any order. */
const BYTES = fc.string({
  unit: fc.integer({ min: 0x21, max: 0xff }).map((code) => String.fromCharCode(code)),
  maxLength: 5,
});
const QUERY = fc.array(fc.oneof(fc.constantFrom(...PIECES), BYTES), { maxLength: 12 });

const app = onTestApp();

/** The status that the service responds with to these very bytes. */
async function statusOf(requestLine: string, headers: readonly string[]): Promise<number> {
  const socket = connect(Number(new URL(app.url).port), '127.0.0.1');
  await once(socket, 'connect');
  const lines = [`${requestLine} HTTP/1.1`, 'Host: test', 'Connection: close', ...headers, '', ''];
  socket.write(Buffer.from(lines.join('\r\n'), 'latin1'));
  return Number((await text(socket)).slice(9, 12));
}

test('any query has a response, and never one of 5xx', async () => {
  const { apiKey, secret } = app.exchange.open.credentials;
  const requested = fc.asyncProperty(fc.constantFrom(...ROUTES), QUERY, async (route, pieces) => {
    const query = pieces.join('');
    const headers = [`X-Api-Key: ${apiKey}`, `X-Signature: ${exchangeSignature(secret, '')}`];
    const status = await statusOf(`${route}?api_key=${apiKey}&${query}`, headers);
    expect(status).toBeGreaterThanOrEqual(200);
    expect(status).toBeLessThan(500);
  });
  await fc.assert(requested, { numRuns: 400 });
});

test('400, and nothing is created: a memo, a tag or a user_id of bytes that are no UTF-8', async () => {
  const { apiKey, secret } = app.exchange.open.credentials;
  const order = `api_key=${apiKey}&pair_id=USDCSOL&withdraw_address=${ADDRESS}`;
  for (const name of ['withdraw_address_memo', 'withdraw_address_tag', 'user_id']) {
    const query = `${order}&${name}=caf%e9`;
    expect([name, await statusOf(`POST /v1/orders?${query}`, [])]).toEqual([name, 400]);
    const page = await fetch(`${payUrl(app)}/widget?${query}`, { headers: { accept: 'text/html' } });
    expect([name, page.status, page.headers.get('cache-control')]).toEqual([name, 400, 'no-store']);
  }
  const day = new Date().toISOString().slice(0, 10);
  const list = `GET /v1/merchant/orders?start_date=${day}&end_date=${day}`;
  const headers = [`X-Api-Key: ${apiKey}`, `X-Signature: ${exchangeSignature(secret, '')}`];
  expect(await statusOf(`${list}&user_id=caf%e9`, headers)).toBe(400);
  const all = await app.exchange.open.list({ start_date: day, end_date: day });
  expect(JSON.stringify(all.json())).not.toContain('\ufffd');
});
