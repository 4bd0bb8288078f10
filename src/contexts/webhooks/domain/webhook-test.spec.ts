import { expect, it } from '@jest/globals';
import { fold } from '../../../kernel/aggregate.js';
import { requestTest, webhookTest } from './webhook-test.js';

const command = {
  delivery_id: 'd',
  endpoint_id: 'e',
  merchant_id: 'm',
  message: 'hello',
  occurred_at: 'now',
};

it('asks for a test delivery once, however often the request is repeated', () => {
  const events = requestTest(command, webhookTest.initial);
  expect(events).toEqual([{ type: 'webhook_endpoint.test_requested.v1', data: command }]);
  expect(requestTest({ ...command, occurred_at: 'later' }, fold(webhookTest, events))).toEqual([]);
});
