import { expect, it } from '@jest/globals';
import { envelope } from './published-events.service.js';

it('a published event has the fields of the contract in their order', () => {
  const body = envelope('d-1', {
    type: 'payout.failed',
    occurredAt: '2026-01-01T00:00:00.000Z',
    merchantId: 'm-1',
    data: '{"a":1}',
  });
  expect(body).toBe(
    '{"id":"d-1","type":"payout.failed","occurred_at":"2026-01-01T00:00:00.000Z","merchant_id":"m-1","data":{"a":1}}',
  );
});
