import { describe, expect, it } from '@jest/globals';
import { brokenRules } from '../../../../test/support/broken-rules.js';
import type { DomainEvent } from '../../../kernel/aggregate.js';
import { WEBHOOK_HISTORIES } from './history.js';

const [DAY_1, DAY_2, DAY_3] = [1, 2, 3].map((day) => `2026-01-0${day}T00:00:00.000Z`);
const of = { endpoint_id: 'e', merchant_id: 'm' };
const event = (type: string, data: object = {}): DomainEvent => ({
  type: `webhook_endpoint.${type}.v1`,
  data: { ...of, at: DAY_2, ...data },
});
const fields = { url: 'https://example.com', description: null, event_types: null };
const registered: DomainEvent = {
  type: 'webhook_endpoint.registered.v1',
  data: { ...of, ...fields, sealed_signing_secret: 'sealed', created_at: DAY_1 },
};
const updated = (over: object): DomainEvent => ({
  type: 'webhook_endpoint.updated.v1',
  data: { ...of, ...fields, updated_at: DAY_2, ...over },
});
const rotated = event('secret_rotated', {
  rotation_id: 'r',
  sealed_signing_secret: 'sealed too',
  former_expires_at: DAY_3,
});
const disabled = (cause: string): DomainEvent => event('disabled', { cause });

const [endpoints, ...requests] = WEBHOOK_HISTORIES;
const brokenOf = (...events: readonly DomainEvent[]) => brokenRules(endpoints!, 'm', events);

describe('the audit of the endpoints of a merchant', () => {
  it.each<[string, readonly DomainEvent[]]>([
    ['updated', [updated({ url: 'https://example.com/2' }), updated({ event_types: ['payout.received'] })]],
    ['rotated and deleted', [rotated, event('deleted')]],
    ['disabled by the merchant and enabled', [disabled('merchant'), event('enabled')]],
    ['disabled because its receiver is gone', [disabled('gone')]],
    ['disabled because it kept failing', [disabled('failing'), event('enabled'), disabled('failing')]],
  ])('accepts one that is %s', (_what, events) => {
    expect(brokenOf(registered, ...events).filter(Boolean)).toEqual([]);
  });

  it.each<[string, readonly DomainEvent[], string]>([
    ['is registered twice', [registered, registered], 'the endpoint is registered once'],
    ['is updated before it is registered', [updated({})], 'Webhook endpoint not found'],
    ['is updated without a change', [registered, updated({})], 'it does not follow from what was before it'],
    ['is enabled while it is', [registered, event('enabled')], 'it does not follow'],
    ...['merchant', 'gone', 'failing'].map((cause): [string, readonly DomainEvent[], string] => [
      `is disabled twice, the second time as ${cause}`,
      [registered, disabled('merchant'), disabled(cause)],
      'it does not follow',
    ]),
    ['is gone before it is registered', [disabled('gone')], 'it does not follow'],
    ['is rotated twice in one rotation', [registered, rotated, rotated], 'it does not follow'],
    ['is deleted twice', [registered, event('deleted'), event('deleted')], 'Webhook endpoint not found'],
    [
      'is in the stream of another merchant',
      [{ ...registered, data: { ...registered.data, merchant_id: 'n' } }],
      'its merchant_id is n, not that of its stream',
    ],
  ])('names the rule that is broken by one that %s', (_what, events, rule) => {
    expect(brokenOf(...events).at(-1)).toContain(rule);
  });

  it('accepts a request of each kind once', () => {
    expect(requests.map(({ category }) => category)).toEqual([
      'webhook_test',
      'webhook_resend',
      'webhook_recovery',
    ]);
    for (const rules of requests) {
      const request: DomainEvent = { type: rules.events[0]!, data: {} };
      const [first, second] = brokenRules(rules, 'r', [request, request]);
      expect([first, second]).toEqual([null, 'it does not follow from what was before it']);
    }
  });
});
