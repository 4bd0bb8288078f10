import { describe, expect, it } from '@jest/globals';
import type { DeliveryFacts } from '../views/stuck-deliveries.js';
import { describeDelivery } from './delivery-descriptions.js';

const NOW = new Date('2026-01-02T12:00:00Z');
const minutes = (count: number): Date => new Date(NOW.getTime() + count * 60_000);

const PENDING: DeliveryFacts = {
  delivery_id: 'd1',
  endpoint_id: 'e1',
  merchant_id: 'm1',
  type: 'payout.received',
  state: 'pending',
  attempts: 0,
  created_at: minutes(-60),
  due_at: minutes(30),
  in_flight: false,
  attempted_at: null,
  http_status: null,
  failure_phase: null,
  error: null,
  endpoint_status: 'enabled',
  disabled_cause: null,
  disabled_at: null,
};
const words = (facts: Partial<DeliveryFacts>) => describeDelivery({ ...PENDING, ...facts }, NOW);
const RESEND = 'npm run delivery -- resend d1 --reason <text>';

describe('the words for a delivery', () => {
  it.each([
    [
      'waits for its next attempt',
      { attempts: 5, http_status: 500 },
      '5 attempts failed, the last one: 500 from the receiver; next attempt at 2026-01-02T12:30:00.000Z',
      `wait, or send it now: ${RESEND}`,
    ],
    [
      'is being sent',
      { attempts: 1, failure_phase: 'timeout', in_flight: true, due_at: minutes(-9) },
      '1 attempt failed, the last one: no response in time; an attempt is in flight',
      `wait, or send it now: ${RESEND}`,
    ],
    [
      'is overdue',
      { due_at: minutes(-9) },
      'no attempt yet; due since 2026-01-02T11:51:00.000Z',
      'no worker has claimed it: check that a process with the role worker runs and is ready',
    ],
    [
      'succeeded',
      { state: 'succeeded', attempts: 2, http_status: 204 },
      'succeeded after 2 attempts',
      'nothing',
    ],
    [
      'is sent again',
      { attempts: 2, http_status: 204 },
      '2 attempts, the last one succeeded: it is sent again; next attempt at 2026-01-02T12:30:00.000Z',
      `wait, or send it now: ${RESEND}`,
    ],
    [
      'is exhausted',
      { state: 'exhausted', attempts: 11, failure_phase: 'dns', error: 'ENOTFOUND' },
      '11 attempts failed, the last one: the name of the receiver does not resolve (ENOTFOUND); exhausted, no further automatic attempt',
      `once the receiver works: ${RESEND}`,
    ],
    [
      'was dropped by a disabled endpoint',
      { state: 'dropped', endpoint_status: 'disabled', disabled_cause: 'failing', disabled_at: minutes(-90) },
      'no attempt yet; dropped, the endpoint was disabled or deleted; the endpoint was disabled at 2026-01-02T10:30:00.000Z by sustained failures',
      'once the receiver works, the merchant enables the endpoint and recovers it since 2026-01-02T11:00:00.000Z',
    ],
    [
      'was of a deleted endpoint',
      { state: 'dropped', endpoint_status: 'deleted' },
      'no attempt yet; dropped, the endpoint was disabled or deleted; the endpoint is deleted',
      'nothing: the merchant deleted the endpoint',
    ],
  ] as const)('that %s', (_, facts, what, next) => {
    expect(words(facts)).toEqual({ what, next });
  });
});
