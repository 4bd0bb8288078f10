import type { AddressInfo } from 'node:net';
import { expect, test } from '@jest/globals';
import { startTestApp } from '../../support/app.js';
import { startCollector, type Span } from '../../support/programs/otlp-collector.js';

const TRACE = '0af7651916cd43dd8448eb211c80319c';

test("with a collector, a write is a span of the client's trace, down to its command and its commit", async () => {
  const spans: Span[] = [];
  let cause: unknown;
  const server = await startCollector(spans);
  const { port } = server.address() as AddressInfo;
  const app = await startTestApp({ OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` });
  try {
    const body = { phone_number: '+15550001111' };
    const headers = { traceparent: `00-${TRACE}-b7ad6b7169203331-01` };
    const response = await app.merchant.call({ method: 'POST', path: '/merchants/v1/users', body, headers });
    expect(response.status).toBe(201);
    [cause] = await app.database.query(
      `select metadata::json->>'traceparent' as traceparent from event_store.events where type = 'user.created.v1'`,
    );
  } finally {
    await app.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
  const request = spans.find(({ name }) => name === 'POST /merchants/v1/users');
  const command = spans.find(
    ({ name, parentSpanId }) => name === 'command' && parentSpanId === request?.spanId,
  );
  const commit = spans.find(
    ({ name, parentSpanId }) => name === 'event_store.commit' && parentSpanId === command?.spanId,
  );
  expect(request).toMatchObject({ traceId: TRACE, parentSpanId: 'b7ad6b7169203331' });
  expect(commit?.traceId).toBe(TRACE);
  expect(cause).toEqual({ traceparent: expect.stringContaining(`00-${TRACE}-`) });
  expect(spans.some(({ name }) => name === 'subscription.batch')).toBe(true);
});
