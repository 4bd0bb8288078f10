import { describe, expect, it } from '@jest/globals';
import { givenOf } from '../../../../test/support/given.js';
import { fold } from '../../../kernel/aggregate.js';
import {
  disableFailing,
  disableGone,
  ENDPOINT_LIMIT,
  register,
  remove,
  update,
  webhookEndpoints,
  type EndpointFields,
  type Register,
  type Update,
  type WebhookEndpointEvent,
  type WebhookEndpoints,
} from './webhook-endpoints.js';

const merchant_id = 'm-1';
const at = '2026-01-02T00:00:00.000Z';

function endpoint(endpoint_id: string): Register {
  return {
    endpoint_id,
    merchant_id,
    url: `https://example.com/${endpoint_id}`,
    description: null,
    event_types: null,
    sealed_signing_secret: 'sealed',
    created_at: '2026-01-01T00:00:00.000Z',
  };
}

const registered = (id: string): WebhookEndpointEvent => ({
  type: 'webhook_endpoint.registered.v1',
  data: endpoint(id),
});
const disabled = (id: string): WebhookEndpointEvent => ({
  type: 'webhook_endpoint.disabled.v1',
  data: { endpoint_id: id, merchant_id, cause: 'merchant', at },
});
const enabled = (id: string): WebhookEndpointEvent => ({
  type: 'webhook_endpoint.enabled.v1',
  data: { endpoint_id: id, merchant_id, at },
});
const deleted = (id: string): WebhookEndpointEvent => ({
  type: 'webhook_endpoint.deleted.v1',
  data: { endpoint_id: id, merchant_id, at },
});

const updated = (fields: Partial<EndpointFields> = {}): WebhookEndpointEvent => ({
  type: 'webhook_endpoint.updated.v1',
  data: {
    endpoint_id: 'e-1',
    merchant_id,
    url: 'https://example.com/e-1',
    description: null,
    event_types: null,
    ...fields,
    updated_at: at,
  },
});

const given = givenOf(webhookEndpoints);

const patch = (id: string, changes: Update['changes']) => (state: WebhookEndpoints) =>
  update({ endpoint_id: id, merchant_id, changes, at }, state);
const ten = Array.from({ length: ENDPOINT_LIMIT }, (_, index) => registered(`e-${index}`));

describe('registering an endpoint', () => {
  it('records it', () =>
    given()
      .when((s) => register(endpoint('e-1'), s))
      .then(registered('e-1')));

  it('happens once, however often the request is repeated', () =>
    given(registered('e-1'))
      .when((s) => register(endpoint('e-1'), s))
      .then());

  it('works for the tenth endpoint', () =>
    given(...ten.slice(1))
      .when((s) => register(endpoint('e-0'), s))
      .then(registered('e-0')));

  it('is refused for the eleventh', () =>
    given(...ten)
      .when((s) => register(endpoint('more'), s))
      .thenRefused('validation_failed', { webhook_endpoint: ['must be one of at most 10 per merchant'] }));

  it('works again once one of ten is deleted', () =>
    given(...ten, deleted('e-3'))
      .when((s) => register(endpoint('more'), s))
      .then(registered('more')));

  it('finds its own endpoint among ten when repeated', () =>
    given(...ten)
      .when((s) => register(endpoint('e-9'), s))
      .then());
});

describe('changing an endpoint', () => {
  it('changes nothing when nothing is given', () => given(registered('e-1')).when(patch('e-1', {})).then());

  it('keeps what is not mentioned', () =>
    given(registered('e-1'))
      .when(patch('e-1', { description: 'orders' }))
      .then(updated({ description: 'orders' })));

  it('clears a description with null', () =>
    given({ type: 'webhook_endpoint.registered.v1', data: { ...endpoint('e-1'), description: 'old' } })
      .when(patch('e-1', { description: null }))
      .then(updated()));

  it('narrows the types', () =>
    given(registered('e-1'))
      .when(patch('e-1', { event_types: ['payout.received'] }))
      .then(updated({ event_types: ['payout.received'] })));

  it('may disable the endpoint', () =>
    given(registered('e-1'))
      .when(patch('e-1', { status: 'disabled' }))
      .then(disabled('e-1')));
  it('may enable the endpoint', () =>
    given(registered('e-1'), disabled('e-1'))
      .when(patch('e-1', { status: 'enabled' }))
      .then(enabled('e-1')));
  it('does not enable what is enabled', () =>
    given(registered('e-1'), disabled('e-1'), enabled('e-1'))
      .when(patch('e-1', { status: 'enabled' }))
      .then());
  it('leaves a disabled endpoint disabled when its types change', () =>
    given(registered('e-1'), disabled('e-1'))
      .when(patch('e-1', { event_types: ['payout.received'] }))
      .then(updated({ event_types: ['payout.received'] })));
  it('is refused for an unknown endpoint', () => given().when(patch('e-1', {})).thenRefused('not_found'));
  it('is refused for a deleted endpoint', () =>
    given(registered('e-1'), deleted('e-1')).when(patch('e-1', {})).thenRefused('not_found'));
});

describe('disabling an endpoint that is gone', () => {
  const attempt = { attempted_url: 'https://example.com/e-1', attempted_at: at };
  const goneAfter = (change: Partial<typeof attempt>) => (s: WebhookEndpoints) =>
    disableGone({ endpoint_id: 'e-1', merchant_id, ...attempt, ...change, at }, s);
  const gone = goneAfter({});
  it('records the cause', () =>
    given(registered('e-1'))
      .when(gone)
      .then({
        type: 'webhook_endpoint.disabled.v1',
        data: { endpoint_id: 'e-1', merchant_id, cause: 'gone', at },
      }));
  it('happens once', () => given(registered('e-1'), disabled('e-1')).when(gone).then());
  it('changes nothing after deletion', () => given(registered('e-1'), deleted('e-1')).when(gone).then());
  it('changes nothing when the merchant enabled it while the attempt was in flight', () =>
    given(registered('e-1'), disabled('e-1'), enabled('e-1'))
      .when(goneAfter({ attempted_at: new Date(Date.parse(at) - 1).toISOString() }))
      .then());
  it('changes nothing when the attempt went to another URL than it has now', () =>
    given(registered('e-1'))
      .when(goneAfter({ attempted_url: 'https://example.com/before' }))
      .then());
});

describe('disabling an endpoint that keeps failing', () => {
  const failing = (failing_since: string) => (s: WebhookEndpoints) =>
    disableFailing({ endpoint_id: 'e-1', merchant_id, failing_since, at: later }, s);
  const later = '2026-01-03T00:00:00.000Z';
  const recorded: WebhookEndpointEvent = {
    type: 'webhook_endpoint.disabled.v1',
    data: { endpoint_id: 'e-1', merchant_id, cause: 'failing', at: later },
  };
  it('records the cause', () => given(registered('e-1')).when(failing(at)).then(recorded));
  it('rests on failures after it was enabled', () =>
    given(registered('e-1'), disabled('e-1'), enabled('e-1'))
      .when(failing('2026-01-02T00:00:00.001Z'))
      .then(recorded));
  it('changes nothing when the merchant enabled it after one of the failures', () =>
    given(registered('e-1'), disabled('e-1'), enabled('e-1')).when(failing(at)).then());
  it('happens once', () => given(registered('e-1'), recorded).when(failing(at)).then());
  it('changes nothing after deletion', () =>
    given(registered('e-1'), deleted('e-1')).when(failing(at)).then());
  it('is forgotten once it is enabled', () => {
    const once = fold(webhookEndpoints, [registered('e-1'), recorded]);
    expect(once.byId.get('e-1')).toMatchObject({ disabledCause: 'failing', disabledAt: later });
    const again = webhookEndpoints.evolve(once, enabled('e-1'));
    expect(again.byId.get('e-1')).toMatchObject({ disabledCause: null, disabledAt: null, enabledAt: at });
  });
});

describe('deleting an endpoint', () => {
  const removed = (s: WebhookEndpoints) => remove({ endpoint_id: 'e-1', merchant_id, at }, s);
  it('records it', () => given(registered('e-1')).when(removed).then(deleted('e-1')));
  it('is refused the second time', () =>
    given(registered('e-1'), deleted('e-1')).when(removed).thenRefused('not_found'));
});
