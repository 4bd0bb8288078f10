import { expect, it } from '@jest/globals';
import { envelope, withJsonText } from './envelope.js';

it('holds the fields of the contract in their order', () => {
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

it('leaves custom metadata byte for byte as it was sent', () => {
  const sent = '{"big":12345678901234567890, "b":1.0,"a":"\\u0000\\ud800","a":2}';
  expect(withJsonText({ payout_id: 'p' }, 'custom_metadata', sent)).toBe(
    `{"payout_id":"p","custom_metadata":${sent}}`,
  );
});
