import { randomUUID } from 'node:crypto';
import { expect, it } from '@jest/globals';
import { EVENT_STORE, type EventStore } from '../../src/platform/event-store/port.js';
import { sharedApp } from '../support/app.js';
import { createPayee, REPORT, settledPayout, type PayoutBody } from '../support/payouts/payout-calls.js';

const { app, chain, merchant } = await sharedApp();

it('A payout that is reported twice under one key has two events: the report and the receipt', async () => {
  const { id: user_id, wallet } = await createPayee(merchant);
  const { hash } = await chain.transfer(wallet, '12.5');
  const body = { user_id, payout: { amount: '12.5', transaction_hash: hash } };
  const key = randomUUID();
  const first = await merchant.post(REPORT, body, key);
  const repeated = await merchant.post(REPORT, body, key);
  expect([first.status, repeated.status, repeated.text]).toEqual([201, 201, first.text]);
  const { id } = first.json<{ payout: PayoutBody }>().payout;
  expect((await settledPayout(merchant, id)).status).toBe('received');

  const events = await app.get<EventStore>(EVENT_STORE).readStream(`payout-${id}`);
  expect(events.map(({ type, revision }) => [revision, type])).toEqual([
    [0, 'payout.reported.v1'],
    [1, 'payout.received.v2'],
  ]);
  // The request caused the first event; a check of the worker caused the second.
  expect(events[0]!.metadata).toMatchObject({ request_id: first.headers['request-id'] });
  expect(events[1]!.metadata).not.toHaveProperty('request_id');
});
