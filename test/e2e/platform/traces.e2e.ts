import type { AddressInfo } from 'node:net';
import { expect, test } from '@jest/globals';
import { startTestApp } from '../../support/app.js';
import { startCollector, type Span } from '../../support/programs/otlp-collector.js';

test('with a collector, a write is traced from the request through its command to its commit', async () => {
  const spans: Span[] = [];
  const server = await startCollector(spans);
  const { port } = server.address() as AddressInfo;
  const app = await startTestApp({ OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` });
  try {
    const body = { phone_number: '+15550001111' };
    const response = await app.merchant.call({ method: 'POST', path: '/merchants/v1/users', body });
    expect(response.status).toBe(201);
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
  expect(commit?.traceId).toBe(request?.traceId);
  expect(commit).toBeDefined();
  expect(spans.some(({ name }) => name === 'subscription.batch')).toBe(true);
});
