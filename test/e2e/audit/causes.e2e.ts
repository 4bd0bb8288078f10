import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { EventMetadata, RecordedEvent } from '../../../src/platform/event-store/port.js';
import { EVENT_STORE, type EventStore } from '../../../src/platform/event-store/port.js';
import { wholeJourney, type WholeJourney } from '../../support/whole-journey.js';

const ROUTE = /^(POST|PATCH|PUT|DELETE|GET) \/[^ ]+$/;

describe('every event says what caused it', () => {
  let journey: WholeJourney;
  let events: readonly RecordedEvent[];
  const of = (stream: string): [string, EventMetadata][] =>
    events.filter((each) => each.stream === stream).map(({ type, metadata }) => [type, metadata]);

  beforeAll(async () => {
    journey = await wholeJourney();
    const store = journey.app.app.get<EventStore>(EVENT_STORE, { strict: false });
    events = await store.readAll(null, 5000);
  });
  afterAll(() => journey.close());

  it('a request, an operator, or a process and the event that it follows from', () => {
    const before = new Set<string>();
    const without: string[] = [];
    for (const { id, type, metadata, stream } of events) {
      const { actor, request_id: request, causation_id: cause, merchant_id: merchant } = metadata;
      const asked =
        actor !== undefined && ROUTE.test(actor) && request !== undefined && merchant !== undefined;
      const followed = actor !== undefined && cause !== undefined && before.has(cause);
      // It follows from a delivery.
      const refused = actor === 'webhooks.disabling' && cause !== undefined;
      if (!asked && !followed && !refused && actor !== 'operator') without.push(`${type} in ${stream}`);
      before.add(id);
    }
    expect(without).toEqual([]);
    expect(events.length).toBeGreaterThan(40);
  });

  it('names the route, the process, and the event of another stream', () => {
    const [[, reportedBy], [, receivedBy]] = of(`payout-${journey.received}`) as [
      [string, EventMetadata],
      [string, EventMetadata],
    ];
    expect(reportedBy).toMatchObject({ actor: 'POST /merchants/v1/payouts/report' });
    expect(receivedBy).toMatchObject({ actor: 'payouts.verification' });
    const activated = of(`user-${journey.user}`).find(([type]) => type === 'user.activated.v1')![1];
    expect(events.find(({ id }) => id === activated.causation_id)).toMatchObject({
      type: 'onboarding.card_issued.v1',
      stream: `onboarding-${journey.user}`,
    });
    const key = journey.app.exchange.open.credentials.apiKey;
    expect(of(`order-${journey.order}`)[0]![1]).toMatchObject({ actor: 'POST /v1/orders', key_id: key });
  });

  it('holds nothing of a person', () => {
    const fields = new Set(events.flatMap(({ metadata }) => Object.keys(metadata)));
    const known = ['actor', 'request_id', 'merchant_id', 'key_id', 'causation_id', 'traceparent', 'mac'];
    expect([...fields].filter((name) => !known.includes(name))).toEqual([]);
    // A pattern, never a path with values in it.
    expect(events.some(({ metadata }) => /[0-9a-f]{8}-[0-9a-f]{4}/.test(metadata.actor ?? ''))).toBe(false);
  });
});
