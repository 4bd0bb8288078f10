import { describe, expect, it } from '@jest/globals';
import { evolveLane, type Lane } from './lane.js';
import type { WebhookEndpointEvent } from './webhook-endpoints.js';

const [DAY_1, DAY_2, DAY_3, DAY_4] = [1, 2, 3, 4].map((day) => `2026-01-0${day}T00:00:00.000Z`) as [
  ...[string, string, string, string],
];
const of = { endpoint_id: 'e', merchant_id: 'm' };
const registered: WebhookEndpointEvent = {
  type: 'webhook_endpoint.registered.v1',
  data: {
    ...of,
    url: 'https://example.com',
    description: 'd',
    event_types: null,
    sealed_signing_secret: 'first',
    created_at: DAY_1,
  },
};
const LANE: Lane = {
  ...of,
  url: 'https://example.com',
  event_types: null,
  sealed_signing_secret: 'first',
  former_secrets: [],
  status: 'enabled',
  failures_since: DAY_1,
};
const rotated = (id: string, sealed: string, expires: string, at: string): WebhookEndpointEvent => ({
  type: 'webhook_endpoint.secret_rotated.v1',
  data: {
    ...of,
    at,
    rotation_id: id,
    sealed_signing_secret: sealed,
    former_expires_at: expires,
  },
});
const laneAfter = (...events: readonly WebhookEndpointEvent[]): Lane | undefined =>
  events.reduce<Lane | undefined>(evolveLane, undefined);

describe('the destination of an endpoint', () => {
  it('is as it was registered', () => expect(laneAfter(registered)).toEqual(LANE));

  it('does not exist for an endpoint that was never registered', () => {
    const deleted: WebhookEndpointEvent = { type: 'webhook_endpoint.deleted.v1', data: { ...of, at: DAY_2 } };
    expect(laneAfter(deleted)).toBeUndefined();
    expect(laneAfter(registered, deleted)).toEqual({ ...LANE, status: 'deleted' });
  });

  it('follows its updates, and counts failures since it was enabled last', () => {
    const updated: WebhookEndpointEvent = {
      type: 'webhook_endpoint.updated.v1',
      data: { ...of, url: 'https://other', description: null, event_types: ['a'], updated_at: DAY_2 },
    };
    expect(laneAfter(registered, updated)).toEqual({ ...LANE, url: 'https://other', event_types: ['a'] });
    const disabled: WebhookEndpointEvent = {
      type: 'webhook_endpoint.disabled.v1',
      data: { ...of, at: DAY_2, cause: 'failing' },
    };
    expect(laneAfter(registered, disabled)).toEqual({ ...LANE, status: 'disabled' });
    const enabled: WebhookEndpointEvent = { type: 'webhook_endpoint.enabled.v1', data: { ...of, at: DAY_3 } };
    expect(laneAfter(registered, disabled, enabled)).toEqual({ ...LANE, failures_since: DAY_3 });
  });

  it('is signed with former secrets too, the newest first, until they expire', () => {
    const [second, third] = [rotated('r', 'second', DAY_4, DAY_2), rotated('s', 'third', DAY_4, DAY_3)];
    expect(laneAfter(registered, second, third)).toEqual({
      ...LANE,
      sealed_signing_secret: 'third',
      former_secrets: [
        { sealed: 'second', expires_at: DAY_4 },
        { sealed: 'first', expires_at: DAY_4 },
      ],
    });
    expect(laneAfter(registered, rotated('r', 'second', DAY_3, DAY_2), third)!.former_secrets).toEqual([
      { sealed: 'second', expires_at: DAY_4 },
    ]);
    expect(laneAfter(registered, rotated('r', 'second', DAY_2, DAY_2))!.former_secrets).toEqual([]);
  });
});
