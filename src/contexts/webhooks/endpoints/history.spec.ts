import { describe, expect, it } from '@jest/globals';
import { brokenRules } from '../../../../test/support/broken-rules.js';
import {
  at,
  day,
  deleted,
  disabled,
  enabled,
  endpointOf,
  merchant_id,
  registered,
  rotated,
  rotation,
  updated,
} from '../../../../test/support/webhooks/endpoint-events.js';
import { fold, type DomainEvent } from '../../../kernel/aggregate.js';
import { WEBHOOK_HISTORIES } from './history.js';
import { webhookEndpoints } from './webhook-endpoints.js';

describe('a snapshot of webhook endpoints', () => {
  const { version, pack, unpack } = webhookEndpoints.snapshots!;
  const history = [
    ...['e-1', 'e-2'].map(registered),
    updated({ description: 'new', event_types: ['payout.received'] }),
    disabled('e-1'),
    enabled('e-1'),
    rotated(rotation(2)),
    deleted('e-2'),
  ];

  it('at any point of the history leads to the same state as all events', () => {
    history.forEach((_, index) => {
      const before = fold(webhookEndpoints, history.slice(0, index));
      const kept = unpack(JSON.parse(JSON.stringify(pack(before))));
      expect(fold(webhookEndpoints, history.slice(index), kept)).toEqual(fold(webhookEndpoints, history));
    });
  });

  it('has the shape that belongs to version 2', () => {
    const endpoint = {
      ...endpointOf('e-1'),
      updated_at: at,
      description: 'new',
      event_types: ['payout.received'],
      sealed_signing_secret: 'sealed-2',
      former_secrets: [{ sealed: 'sealed', expires_at: day(3) }],
      secrets: [
        { rotation_id: 'r-2', sealed: 'sealed-2', at },
        { rotation_id: null, sealed: 'sealed', at: day(1) },
      ],
      status: 'enabled',
      failures_since: at,
      disabled_cause: null,
      disabled_at: null,
    };
    const kept = pack(fold(webhookEndpoints, history));
    expect({ version, kept }).toEqual({ version: 2, kept: [endpoint] });
  });
});

const disabledAs = (cause: string): DomainEvent => ({
  type: 'webhook_endpoint.disabled.v1',
  data: { endpoint_id: 'e-1', merchant_id, cause, at },
});

const [endpoints, ...requests] = WEBHOOK_HISTORIES;
const brokenOf = (...events: readonly DomainEvent[]) => brokenRules(endpoints!, merchant_id, events);

describe('the audit of the events of webhook endpoints', () => {
  it.each<[string, readonly DomainEvent[]]>([
    ['updated', [updated({ url: 'https://example.com/2' }), updated({ event_types: ['payout.received'] })]],
    ['rotated and deleted', [rotated(rotation(2)), deleted('e-1')]],
    ['disabled by the merchant and enabled', [disabled('e-1'), enabled('e-1')]],
    ['disabled because its receiver is gone', [disabledAs('gone')]],
    ['disabled because it kept failing', [disabledAs('failing'), enabled('e-1'), disabledAs('failing')]],
  ])('accepts an endpoint that is %s', (_what, events) => {
    expect(brokenOf(registered('e-1'), ...events).filter(Boolean)).toEqual([]);
  });

  it.each<[string, readonly DomainEvent[], string]>([
    ['is registered twice', [registered('e-1'), registered('e-1')], 'the endpoint is registered once'],
    ['is updated before it is registered', [updated()], 'Webhook endpoint not found'],
    [
      'is updated without a change',
      [registered('e-1'), updated()],
      'it does not follow from what was before it',
    ],
    ['is enabled while it is enabled', [registered('e-1'), enabled('e-1')], 'it does not follow'],
    ...['merchant', 'gone', 'failing'].map((cause): [string, readonly DomainEvent[], string] => [
      `is disabled twice, the second time as ${cause}`,
      [registered('e-1'), disabled('e-1'), disabledAs(cause)],
      'it does not follow',
    ]),
    ['is disabled as gone before it is registered', [disabledAs('gone')], 'it does not follow'],
    [
      'is rotated twice in one rotation',
      [registered('e-1'), rotated(rotation(2)), rotated(rotation(2))],
      'it does not follow',
    ],
    ['is deleted twice', [registered('e-1'), deleted('e-1'), deleted('e-1')], 'Webhook endpoint not found'],
    [
      'is in the stream of another merchant',
      [{ type: 'webhook_endpoint.registered.v1', data: { ...endpointOf('e-1'), merchant_id: 'n' } }],
      'its merchant_id is n, not that of its stream',
    ],
  ])('names the rule that is broken by an endpoint that %s', (_what, events, rule) => {
    expect(brokenOf(...events).at(-1)).toContain(rule);
  });

  it('accepts the first request of a stream but no second request, for each kind of request', () => {
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
