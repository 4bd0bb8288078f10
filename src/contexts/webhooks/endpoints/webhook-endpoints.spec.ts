import { describe, expect, it } from '@jest/globals';
import { givenOf } from '../../../../test/support/given.js';
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
import { fold, toStream } from '../../../kernel/aggregate.js';
import {
  disableAutomatically,
  ENDPOINT_LIMIT,
  FORMER_SECRETS_LIMIT,
  register,
  remove,
  rotateSecret,
  update,
  webhookEndpoints,
  type RotateSecret,
  type Update,
  type WebhookEndpointEvent,
  type WebhookEndpoints,
} from './webhook-endpoints.js';

const given = givenOf(webhookEndpoints);

const patch = (id: string, changes: Update['changes']) => (state: WebhookEndpoints) =>
  update({ endpoint_id: id, merchant_id, changes, at }, state);
const ten = Array.from({ length: ENDPOINT_LIMIT }, (_, index) => registered(`e-${index}`));

it('the endpoints of a merchant are in one stream', () => {
  expect(toStream(webhookEndpoints, 'm')).toBe('webhook_endpoints-m');
});

describe('registering an endpoint', () => {
  it('adds the endpoint to those of the merchant', () =>
    given()
      .when((s) => register(endpointOf('e-1'), s))
      .then(registered('e-1')));

  it('has one effect, however often the request is repeated', () =>
    given(registered('e-1'))
      .when((s) => register(endpointOf('e-1'), s))
      .then());

  it('succeeds for the tenth endpoint of a merchant', () =>
    given(...ten.slice(1))
      .when((s) => register(endpointOf('e-0'), s))
      .then(registered('e-0')));

  it('is refused for the eleventh endpoint of a merchant', () =>
    given(...ten)
      .when((s) => register(endpointOf('more'), s))
      .thenRefused('validation_failed', {
        webhook_endpoint: ['cannot be added: a merchant has at most 10'],
      }));

  it('succeeds again once a merchant with ten endpoints has deleted one', () =>
    given(...ten, deleted('e-3'))
      .when((s) => register(endpointOf('more'), s))
      .then(registered('more')));

  it('still succeeds if the request for the tenth endpoint is repeated', () =>
    given(...ten)
      .when((s) => register(endpointOf('e-9'), s))
      .then());
});

describe('changing an endpoint', () => {
  it('has no effect when the PATCH is empty', () => given(registered('e-1')).when(patch('e-1', {})).then());

  it('keeps the fields that the PATCH does not mention', () =>
    given(registered('e-1'))
      .when(patch('e-1', { description: 'orders' }))
      .then(updated({ description: 'orders' })));

  it('removes the description when the PATCH sets it to null', () =>
    given({ type: 'webhook_endpoint.registered.v1', data: { ...endpointOf('e-1'), description: 'old' } })
      .when(patch('e-1', { description: null }))
      .then(updated()));

  it('limits the event types that are sent to the endpoint', () =>
    given(registered('e-1'))
      .when(patch('e-1', { event_types: ['payout.received'] }))
      .then(updated({ event_types: ['payout.received'] })));

  const history = [registered('e-1'), disabled('e-1'), enabled('e-1')];
  it.each([
    ['disables an enabled endpoint', 1, 'disabled', [disabled('e-1')]],
    ['enables a disabled endpoint', 2, 'enabled', [enabled('e-1')]],
    ['has no effect on an enabled endpoint', 3, 'enabled', []],
  ] as const)('%s when the PATCH sets the status', (_, count, status, events) =>
    given(...history.slice(0, count))
      .when(patch('e-1', { status }))
      .then(...events),
  );
  it('leaves a disabled endpoint disabled when its event types change', () =>
    given(registered('e-1'), disabled('e-1'))
      .when(patch('e-1', { event_types: ['payout.received'] }))
      .then(updated({ event_types: ['payout.received'] })));
  it('is refused for an unknown endpoint', () => given().when(patch('e-1', {})).thenRefused('not_found'));
  it('is refused for a deleted endpoint', () =>
    given(registered('e-1'), deleted('e-1')).when(patch('e-1', {})).thenRefused('not_found'));
});

describe('disabling an endpoint whose receiver responded with 410', () => {
  const attempt = { delivery_id: 'd', attempted_url: 'https://example.com/e-1', attempted_at: at };
  const goneAfter = (change: Partial<typeof attempt>) => (s: WebhookEndpoints) => {
    const reason = { cause: 'gone', ...attempt, ...change } as const;
    return disableAutomatically({ endpoint_id: 'e-1', merchant_id, reason, at }, s);
  };
  const gone = goneAfter({});
  it('records gone as the cause', () =>
    given(registered('e-1'))
      .when(gone)
      .then({
        type: 'webhook_endpoint.disabled.v1',
        data: { endpoint_id: 'e-1', merchant_id, cause: 'gone', at },
      }));
  it('has no effect when it is repeated', () => given(registered('e-1'), disabled('e-1')).when(gone).then());
  it('has no effect on a deleted endpoint', () => given(registered('e-1'), deleted('e-1')).when(gone).then());
  it('changes nothing if the merchant enabled the endpoint while the attempt was in flight', () =>
    given(registered('e-1'), disabled('e-1'), enabled('e-1'))
      .when(goneAfter({ attempted_at: new Date(Date.parse(at) - 1).toISOString() }))
      .then());
  it('changes nothing if the attempt went to a former URL of the endpoint', () =>
    given(registered('e-1'))
      .when(goneAfter({ attempted_url: 'https://example.com/before' }))
      .then());
});

describe('disabling an endpoint that keeps failing', () => {
  const failing = (failing_since: string) => (s: WebhookEndpoints) => {
    const reason = { cause: 'failing', failing_since } as const;
    return disableAutomatically({ endpoint_id: 'e-1', merchant_id, reason, at: later }, s);
  };
  const later = '2026-01-03T00:00:00.000Z';
  const recorded: WebhookEndpointEvent = {
    type: 'webhook_endpoint.disabled.v1',
    data: { endpoint_id: 'e-1', merchant_id, cause: 'failing', at: later },
  };
  it('records failing as the cause', () => given(registered('e-1')).when(failing(at)).then(recorded));
  it('is recorded if all failures are later than the last enabling', () =>
    given(registered('e-1'), disabled('e-1'), enabled('e-1'))
      .when(failing('2026-01-02T00:00:00.001Z'))
      .then(recorded));
  it('changes nothing if the merchant enabled the endpoint after one of the failures', () =>
    given(registered('e-1'), disabled('e-1'), enabled('e-1')).when(failing(at)).then());
  it('has no effect when it is repeated', () => given(registered('e-1'), recorded).when(failing(at)).then());
  it('has no effect once the endpoint is deleted', () =>
    given(registered('e-1'), deleted('e-1')).when(failing(at)).then());
  it('leaves no recorded cause after the endpoint is enabled again', () => {
    const once = fold(webhookEndpoints, [registered('e-1'), recorded]);
    expect(once.byId.get('e-1')).toMatchObject({ disabled_cause: 'failing', disabled_at: later });
    const again = webhookEndpoints.evolve(once, enabled('e-1'));
    const none = { disabled_cause: null, disabled_at: null };
    expect(again.byId.get('e-1')).toMatchObject({ ...none, failures_since: at });
  });
});

describe('deleting an endpoint', () => {
  const removed = (s: WebhookEndpoints) => remove({ endpoint_id: 'e-1', merchant_id, at }, s);
  it('removes the endpoint from those of the merchant', () =>
    given(registered('e-1')).when(removed).then(deleted('e-1')));
  it('is refused if the endpoint is deleted already', () =>
    given(registered('e-1'), deleted('e-1')).when(removed).thenRefused('not_found'));
});

const rotating = (command: RotateSecret) => (state: WebhookEndpoints) => rotateSecret(command, state);

/** Rotations whose replaced secrets are all valid until day 9. */
const four = Array.from({ length: FORMER_SECRETS_LIMIT }, (_, index) =>
  rotated({ ...rotation(2), rotation_id: `four-${index}`, former_expires_at: day(9) }),
);

describe('rotating a signing secret', () => {
  it('records the new secret and the time until which the replaced one still signs', () =>
    given(registered('e-1'))
      .when(rotating(rotation(2)))
      .then(rotated(rotation(2))));

  it('has one effect, however often the request is repeated', () =>
    given(registered('e-1'), rotated(rotation(2)), rotated(rotation(3)))
      .when(rotating({ ...rotation(4), rotation_id: 'r-2' }))
      .then());

  it('is refused while four replaced secrets are valid', () =>
    given(registered('e-1'), ...four)
      .when(rotating(rotation(3)))
      .thenRefused('invalid_transition'));

  it('succeeds again as soon as one of four replaced secrets expires', () => {
    const [first, ...others] = four as [WebhookEndpointEvent, ...WebhookEndpointEvent[]];
    const short = { ...first, data: { ...first.data, former_expires_at: day(3) } } as WebhookEndpointEvent;
    given(registered('e-1'), short, ...others)
      .when(rotating(rotation(3)))
      .then(rotated(rotation(3)));
  });

  it('succeeds without an overlap, however many replaced secrets are valid', () =>
    given(registered('e-1'), ...four)
      .when(rotating(rotation(3, 0)))
      .then(rotated(rotation(3, 0))));

  it('is refused for an unknown or a deleted endpoint', () => {
    given()
      .when(rotating(rotation(2)))
      .thenRefused('not_found');
    given(registered('e-1'), deleted('e-1'))
      .when(rotating(rotation(2)))
      .thenRefused('not_found');
  });

  it('lists the secrets from the newest to the secret of the registration', () => {
    const state = fold(webhookEndpoints, [registered('e-1'), rotated(rotation(2)), rotated(rotation(3))]);
    expect(state.byId.get('e-1')).toMatchObject({
      updated_at: day(3),
      sealed_signing_secret: 'sealed-3',
      former_secrets: [{ sealed: 'sealed-2', expires_at: day(4) }],
      secrets: [
        { rotation_id: 'r-3', sealed: 'sealed-3', at: day(3) },
        { rotation_id: 'r-2', sealed: 'sealed-2', at: day(2) },
        { rotation_id: null, sealed: 'sealed', at: '2026-01-01T00:00:00.000Z' },
      ],
    });
  });

  it('keeps a bounded number of secrets, but always the first secret and the secrets that still sign', () => {
    const overlapping = rotated({ ...rotation(1, 8), rotation_id: 'signs-on' });
    const many = Array.from({ length: 1000 }, (_, n) =>
      rotated({ ...rotation(2, 0), rotation_id: `again-${n}` }),
    );
    const state = fold(webhookEndpoints, [registered('e-1'), overlapping, ...many]);
    const { former_secrets, secrets } = state.byId.get('e-1')!;
    expect(secrets.length).toBeLessThan(110);
    expect(secrets.slice(0, 2).map((each) => each.rotation_id)).toEqual(['again-999', 'again-998']);
    expect(secrets.at(-1)).toMatchObject({ rotation_id: null, sealed: 'sealed' });
    expect(former_secrets).toEqual([{ sealed: 'sealed', expires_at: day(9) }]);
    given(registered('e-1'), overlapping, ...many)
      .when(rotating({ ...rotation(3), rotation_id: 'again-950' }))
      .then();
  });
});
