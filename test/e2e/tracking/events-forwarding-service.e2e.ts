import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { AnalyticsProvider, API_KEY } from '../../support/tracking/analytics-provider.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { item, items } from '../../support/tracking/forwarding-harness.js';
import { eventually } from '../../support/eventually.js';

let provider: AnalyticsProvider;
let app: TestApp;

beforeAll(async () => {
  provider = await AnalyticsProvider.start();
  app = await startTestApp({
    AMPLITUDE_API_KEY: API_KEY,
    AMPLITUDE_URL: provider.url,
    ANALYTICS_TIMEOUT_MS: '3000',
  });
});
afterAll(async () => {
  await app.close();
  await provider.stop();
});

const send = (events: readonly object[]) => app.merchant.post('/merchants/v1/events', { events });
const accepted = (count: number) => eventually(() => (provider.accepted.size >= count ? true : null));

it('an accepted event reaches the provider once, with its device id, however often it is sent', async () => {
  const [event, other] = [item({ device_id: 'phone-1' }), item()];
  expect((await send([event, event])).status).toBe(202);
  expect((await send([other, event])).status).toBe(202);
  await accepted(2);
  await eventually(async () => {
    const [row] = await app.database.query<{ open: number }>(
      `select count(*)::int as open from tracking.batches where state <> 'forwarded'`,
    );
    return row!.open === 0 ? true : null;
  });
  expect(provider.accepted.get(event.event_id)).toMatchObject({ times: 1, event: { device_id: 'phone-1' } });
  expect(provider.accepted.get(other.event_id)).toMatchObject({ times: 1 });
});

it('a provider that never responds slows no request, and readiness does not depend on it', async () => {
  const before = provider.accepted.size;
  provider.always = 'hang';
  const events = items(20, { event_name: 'waiting' });
  const tookMs: number[] = [];
  for (const each of events) {
    const began = performance.now();
    expect((await send([each])).status).toBe(202);
    tookMs.push(performance.now() - began);
  }
  // The machine may be slow; a request that waits for the provider always takes its timeout.
  expect(tookMs.sort((a, b) => a - b)[10]).toBeLessThan(2900);
  expect((await fetch(`${app.url}/health/ready`)).status).toBe(200);
  provider.recovers();
  await accepted(before + 20);
  expect(provider.ids).toEqual(expect.arrayContaining(events.map((each) => each.event_id)));
});
