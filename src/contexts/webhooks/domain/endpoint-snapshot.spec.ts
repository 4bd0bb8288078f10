import { describe, expect, it } from '@jest/globals';
import { evolveSnapshot, type EndpointSnapshot } from './endpoint-snapshot.js';
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
const SNAPSHOT: EndpointSnapshot = {
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
const snapshotAfter = (...events: readonly WebhookEndpointEvent[]): EndpointSnapshot | undefined =>
  events.reduce<EndpointSnapshot | undefined>(evolveSnapshot, undefined);

describe('the destination of an endpoint', () => {
  it('is as it was registered', () => expect(snapshotAfter(registered)).toEqual(SNAPSHOT));

  it('does not exist for an endpoint that was never registered', () => {
    const deleted: WebhookEndpointEvent = { type: 'webhook_endpoint.deleted.v1', data: { ...of, at: DAY_2 } };
    expect(snapshotAfter(deleted)).toBeUndefined();
    expect(snapshotAfter(registered, deleted)).toEqual({ ...SNAPSHOT, status: 'deleted' });
  });

  it('follows its updates, and counts failures since it was enabled last', () => {
    const updated: WebhookEndpointEvent = {
      type: 'webhook_endpoint.updated.v1',
      data: { ...of, url: 'https://other', description: null, event_types: ['a'], updated_at: DAY_2 },
    };
    expect(snapshotAfter(registered, updated)).toEqual({
      ...SNAPSHOT,
      url: 'https://other',
      event_types: ['a'],
    });
    const disabled: WebhookEndpointEvent = {
      type: 'webhook_endpoint.disabled.v1',
      data: { ...of, at: DAY_2, cause: 'failing' },
    };
    expect(snapshotAfter(registered, disabled)).toEqual({ ...SNAPSHOT, status: 'disabled' });
    const enabled: WebhookEndpointEvent = { type: 'webhook_endpoint.enabled.v1', data: { ...of, at: DAY_3 } };
    expect(snapshotAfter(registered, disabled, enabled)).toEqual({ ...SNAPSHOT, failures_since: DAY_3 });
  });

  it('is signed with former secrets too, the newest first, until they expire', () => {
    const [second, third] = [rotated('r', 'second', DAY_4, DAY_2), rotated('s', 'third', DAY_4, DAY_3)];
    expect(snapshotAfter(registered, second, third)).toEqual({
      ...SNAPSHOT,
      sealed_signing_secret: 'third',
      former_secrets: [
        { sealed: 'second', expires_at: DAY_4 },
        { sealed: 'first', expires_at: DAY_4 },
      ],
    });
    expect(snapshotAfter(registered, rotated('r', 'second', DAY_3, DAY_2), third)!.former_secrets).toEqual([
      { sealed: 'second', expires_at: DAY_4 },
    ]);
    expect(snapshotAfter(registered, rotated('r', 'second', DAY_2, DAY_2))!.former_secrets).toEqual([]);
  });
});
