import { it } from '@jest/globals';
import { givenOf } from '../../../../test/support/given.js';
import { requestTest, webhookTest } from './webhook-test.js';

const command = {
  delivery_id: 'd',
  endpoint_id: 'e',
  merchant_id: 'm',
  message: 'hello',
  occurred_at: 'now',
};

it('asks for a test delivery once, however often the request is repeated', () => {
  const requested = { type: 'webhook_endpoint.test_requested.v1', data: command } as const;
  const given = givenOf(webhookTest);
  given()
    .when((state) => requestTest(command, state))
    .then(requested);
  given(requested)
    .when((state) => requestTest({ ...command, occurred_at: 'later' }, state))
    .then();
});
