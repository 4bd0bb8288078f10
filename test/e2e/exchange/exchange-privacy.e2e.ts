import { readFile, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { startTestApp } from '../../support/app.js';
import { exchangeSignature, type ExchangeCall } from '../../support/exchange/exchange-client.js';
import { startCollector, type Span } from '../../support/programs/otlp-collector.js';
import { specFolder } from '../../support/run-folder.js';

const ADDRESS = '7EcDhSYGxXyscszYEp35KHN8vvw3svAuLKTzXwCFLtV';
const [TAG, MEMO] = ['tag-6412077', 'memo-9913553'];
const QUERY = { withdraw_address: ADDRESS, withdraw_address_tag: TAG, withdraw_address_memo: MEMO };
const ORDER: ExchangeCall = { method: 'POST', path: '/v1/orders', query: { ...QUERY, pair_id: 'USDCSOL' } };

test('addresses, tags, memos and signatures of the exchange reach neither the log nor traces', async () => {
  const spans: Span[] = [];
  const collector = await startCollector(spans);
  const { port } = collector.address() as AddressInfo;
  const folder = specFolder('exchange-log');
  const logFile = join(folder, 'service.log');
  const app = await startTestApp({
    LOG_LEVEL: 'debug',
    LOG_FILE: logFile,
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
  });
  const { signing, open } = app.exchange;
  const calls: ExchangeCall[] = [
    ORDER,
    { ...ORDER, signs: 'another address' },
    { ...ORDER, query: { ...QUERY, pair_id: 'NONE' } },
    { path: '/v1/merchants/configuration', query: { ...QUERY, token: 'sol' } },
    { method: 'PATCH', path: '/v1/orders/none/cancel', signs: ADDRESS },
    { path: '/v1/merchant/orders', query: { withdraw_address: ADDRESS, start_date: '2026-01-01' } },
    { path: '/v1/nothing', query: QUERY },
    { path: '/v1/%zz', query: QUERY },
    { path: '/v1/tokens', query: { ...QUERY, to_token: 'sol' } },
  ];
  const statuses: number[] = [];
  try {
    for (const client of [signing, open])
      for (const call of calls) statuses.push((await client.call(call)).status);
  } finally {
    await app.close();
    collector.closeAllConnections();
    await new Promise((resolve) => collector.close(resolve));
  }
  // Each in the way it is meant: created, refused, found nowhere.
  expect(new Set(statuses)).toEqual(new Set([200, 201, 400, 401, 404, 422]));
  const signatures = [signing, open].flatMap(({ credentials: { secret } }) =>
    [ADDRESS, 'another address'].map((address) => exchangeSignature(secret, address)),
  );
  const secrets = [ADDRESS, TAG, MEMO, ...signatures, signing.credentials.secret, open.credentials.secret];
  const log = await readFile(logFile, 'utf8');
  const traces = JSON.stringify(spans);
  await rm(folder, { recursive: true });
  // What is no URL is refused before it is a request.
  expect(log.match(/"msg":"request"/g)?.length).toBeGreaterThanOrEqual(2 * (calls.length - 1));
  expect(spans.filter(({ name }) => name.startsWith('POST')).length).toBeGreaterThan(0);
  for (const secret of secrets)
    for (const text of [log, traces])
      expect(text.split('\n').find((line) => line.includes(secret))).toBeUndefined();
  expect(log).toContain(signing.credentials.apiKey);
});
