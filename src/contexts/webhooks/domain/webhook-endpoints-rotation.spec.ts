import { describe, expect, it } from '@jest/globals';
import { givenOf } from '../../../../test/support/given.js';
import { fold } from '../../../kernel/aggregate.js';
import {
  FORMER_SECRETS_LIMIT,
  rotateSecret,
  webhookEndpoints,
  type RotateSecret,
  type WebhookEndpointEvent,
  type WebhookEndpoints,
} from './webhook-endpoints.js';

const place = { endpoint_id: 'e-1', merchant_id: 'm-1' };
const registered: WebhookEndpointEvent = {
  type: 'webhook_endpoint.registered.v1',
  data: {
    ...place,
    url: 'https://example.com/',
    description: null,
    event_types: null,
    sealed_signing_secret: 'sealed-0',
    created_at: '2026-01-01T00:00:00.000Z',
  },
};
const deleted: WebhookEndpointEvent = {
  type: 'webhook_endpoint.deleted.v1',
  data: { ...place, at: '2026-01-02T00:00:00.000Z' },
};

const day = (number: number): string => `2026-01-0${number}T00:00:00.000Z`;

/** On that day, with an overlap of so many days. */
function rotation(onDay: number, overlapDays = 1): RotateSecret {
  return {
    ...place,
    rotation_id: `r-${onDay}`,
    sealed_signing_secret: `sealed-${onDay}`,
    former_expires_at: day(onDay + overlapDays),
    at: day(onDay),
  };
}
const rotated = (data: RotateSecret): WebhookEndpointEvent => ({
  type: 'webhook_endpoint.secret_rotated.v1',
  data,
});

const given = givenOf(webhookEndpoints);

const rotating = (command: RotateSecret) => (state: WebhookEndpoints) => rotateSecret(command, state);

/** Rotations whose replaced secrets are all valid until day 9. */
const four = Array.from({ length: FORMER_SECRETS_LIMIT }, (_, index) =>
  rotated({ ...rotation(2), rotation_id: `four-${index}`, former_expires_at: day(9) }),
);

describe('rotating a signing secret', () => {
  it('records the fresh one, and until when the replaced one signs', () =>
    given(registered)
      .when(rotating(rotation(2)))
      .then(rotated(rotation(2))));

  it('happens once, however often the request is repeated', () =>
    given(registered, rotated(rotation(2)), rotated(rotation(3)))
      .when(rotating({ ...rotation(4), rotation_id: 'r-2' }))
      .then());

  it('is refused while four replaced secrets are valid', () =>
    given(registered, ...four)
      .when(rotating(rotation(3)))
      .thenRefused('invalid_transition'));

  it('works again as soon as one of them expires', () => {
    const [first, ...others] = four as [WebhookEndpointEvent, ...WebhookEndpointEvent[]];
    const short = { ...first, data: { ...first.data, former_expires_at: day(3) } } as WebhookEndpointEvent;
    given(registered, short, ...others)
      .when(rotating(rotation(3)))
      .then(rotated(rotation(3)));
  });

  it('works without an overlap however many are valid', () =>
    given(registered, ...four)
      .when(rotating(rotation(3, 0)))
      .then(rotated(rotation(3, 0))));

  it('is refused for an unknown or a deleted endpoint', () => {
    given()
      .when(rotating(rotation(2)))
      .thenRefused('not_found');
    given(registered, deleted)
      .when(rotating(rotation(2)))
      .thenRefused('not_found');
  });

  it('keeps the secrets newest first, with the one of the registration last', () => {
    const state = fold(webhookEndpoints, [registered, rotated(rotation(2)), rotated(rotation(3))]);
    expect(state.byId.get('e-1')).toMatchObject({
      updatedAt: day(3),
      secrets: [
        { rotationId: 'r-3', sealed: 'sealed-3', expiresAt: null },
        { rotationId: 'r-2', sealed: 'sealed-2', expiresAt: day(4) },
        { rotationId: null, sealed: 'sealed-0', expiresAt: day(3) },
      ],
    });
  });

  it('leaves nothing behind that grows without end, and always the secret of the registration and those that sign', () => {
    const overlapping = rotated({ ...rotation(1, 8), rotation_id: 'signs-on' });
    const many = Array.from({ length: 1000 }, (_, n) =>
      rotated({ ...rotation(2, 0), rotation_id: `again-${n}` }),
    );
    const { secrets } = fold(webhookEndpoints, [registered, overlapping, ...many]).byId.get('e-1')!;
    expect(secrets.length).toBeLessThan(110);
    expect(secrets.slice(0, 2).map(({ rotationId }) => rotationId)).toEqual(['again-999', 'again-998']);
    // Of the registration and of the rotation that followed, whose own secret still signed when it was replaced.
    expect(secrets.at(-1)).toMatchObject({ rotationId: null, expiresAt: day(9) });
    given(registered, overlapping, ...many)
      .when(rotating({ ...rotation(3), rotation_id: 'again-950' }))
      .then();
  });
});
