import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Log } from '../../../src/platform/telemetry/logger.js';
import { AnalyticsProvider } from './analytics-provider.js';
import { ForwardingHarness, idsOf, item, items, type TestItem } from './forwarding-harness.js';
import { onTestDatabase } from '../../support/postgres.js';
import { eventually } from '../../support/eventually.js';
import { telemetryConfig } from '../../../src/platform/config/config.js';

const merchant = '5b0e9a38-7f1e-4c58-8f0a-0c4f2c0d9a11';

const db = onTestDatabase();
let provider: AnalyticsProvider;
let harness: ForwardingHarness;
const log = Log.open(telemetryConfig({ LOG_LEVEL: 'silent' }));

beforeEach(async () => {
  provider = await AnalyticsProvider.start();
  harness = new ForwardingHarness(db.database, provider.url, log);
  await harness.clear();
});
afterEach(async () => {
  await harness.stop();
  await provider.shutDown();
});

const acceptedOnce = (): boolean => [...provider.accepted.values()].every(({ times }) => times === 1);
const refusals = async (): Promise<Record<string, string>> =>
  Object.fromEntries((await harness.refused()).map(({ event_id, reason }) => [event_id, reason]));

describe('new events', () => {
  it('are sent in the provider format, with the original payload and the id as insert_id', async () => {
    const payload = '{ "n":1.10, "big":12345678901234567890,"u":"\\u0000 \\ud800 \\u00e9" ,"é":[{}]}';
    const sent = item({
      event_id: 'A1B2C3D4-0000-4000-8000-00000000000F',
      event_name: ' Order PAID ',
      event_datetime: '2026-01-31T13:00:00.123456+01:00',
      user_external_id: 'x',
      device_id: 'd1',
    });
    const text = JSON.stringify(sent).replace(JSON.stringify(sent.payload), payload);
    await harness.processed(
      `{"events":[${text}, ${JSON.stringify(item())}]}`,
      (index) => index === 0,
      merchant,
    );
    harness.start();
    await harness.drained();
    expect(provider.ids).toEqual(['a1b2c3d4-0000-4000-8000-00000000000f']);
    expect([...provider.accepted.values()][0]!.event).toMatchObject({
      user_id: `${merchant}:x`,
      device_id: 'd1',
      event_type: 'order paid',
      time: Date.parse('2026-01-31T12:00:00.123Z'),
    });
    expect(provider.bodies[0]).toContain(`"event_properties":${payload}`);
    expect(JSON.parse(provider.bodies[0]!)).toMatchObject({ options: { min_id_length: 1 } });
  });

  it('are sent without a device id for which the provider would refuse the whole event', async () => {
    const events = ['Unknown', '00000000-0000-0000-0000-000000000000', 'null', 'phone-1'].map((device_id) =>
      item({ device_id }),
    );
    await harness.processed([...events, item({ device_id: null }), item()]);
    harness.start();
    await harness.drained();
    const devices = [...provider.accepted.values()].map(({ event }) => event.device_id);
    expect(devices.filter((each) => each !== undefined)).toEqual(['phone-1']);
    expect(provider.accepted.size).toBe(6);
    expect(await harness.refused()).toEqual([]);
  });

  it('are sent only once, even by two forwarders', async () => {
    const all: TestItem[] = [];
    for (let batch = 0; batch < 40; batch += 1) {
      const events = items(50);
      all.push(...events);
      await harness.processed(events);
    }
    harness.start();
    harness.start();
    await harness.drained();
    expect(provider.ids).toEqual(idsOf(all));
    expect(acceptedOnce()).toBe(true);
  });
});

describe('an event that the provider refuses', () => {
  it('is recorded and the others are accepted, even if each response names only one faulty event', async () => {
    const events = items(40);
    const wrong = new Set(events.filter((_, index) => [0, 7, 8, 39].includes(index)).map((e) => e.event_id));
    provider.invalidField = ({ insert_id }) => (wrong.has(insert_id!) ? 'event_type' : null);
    const batch = await harness.processed(events);
    const others = items(5);
    await harness.processed(others);
    harness.start();
    await harness.drained();
    expect(provider.ids).toEqual(idsOf([...events.filter((e) => !wrong.has(e.event_id)), ...others]));
    expect(acceptedOnce()).toBe(true);
    const refused = await harness.refused();
    expect(refused.map(({ event_id }) => event_id).sort()).toEqual([...wrong].sort());
    expect(refused[0]).toMatchObject({ batch_id: batch, reason: 'invalid event_type' });
  });

  it('is recorded with the reason if its time or device is refused', async () => {
    const [ancient, silenced, good] = [
      item({ event_datetime: '0001-01-01T00:00:00Z' }),
      item({ device_id: 'spammer' }),
      item({ device_id: 'phone' }),
    ];
    provider.silencedDevices.add('spammer');
    await harness.processed([ancient, silenced, good]);
    harness.start();
    await harness.drained();
    expect(provider.ids).toEqual([good.event_id]);
    expect(await refusals()).toEqual({
      [ancient.event_id]: 'invalid time',
      [silenced.event_id]: 'silenced device',
    });
  });

  it('waits in its batch if a firewall refuses it without a reason, and all others are accepted', async () => {
    const events = items(1000);
    const wrong = [events[0]!, events[500]!, events[501]!];
    provider.blocks = (body) => wrong.some(({ event_id }) => body.includes(event_id));
    await harness.processed(events);
    const shared = items(40);
    for (const each of shared) await harness.processed([each]);
    harness.start();
    await eventually(() => provider.accepted.size === 1037);
    await eventually(async () => (await harness.waiting()) === 1);
    const later = items(1);
    await harness.processed(later);
    await eventually(() => provider.accepted.size === 1038);
    const good = events.filter((each) => !wrong.includes(each));
    expect(provider.ids).toEqual(idsOf([...good, ...shared, ...later]));
    expect(acceptedOnce()).toBe(true);
    expect(await harness.refused()).toEqual([]);
    provider.blocks = () => false;
    await harness.drained();
    expect(provider.ids).toEqual(idsOf([...events, ...shared, ...later]));
  });

  it('waits, if all events are refused, until the provider accepts events again', async () => {
    const events = items(50);
    provider.always = { status: 403, body: '{}' };
    await harness.processed(events);
    harness.start();
    await eventually(async () => ((await harness.provider())[0]!.failures > 2 ? true : null));
    const [{ failures, cause }] = (await harness.provider()) as [{ failures: number; cause: string }];
    expect(cause).toBe('forbidden');
    // The forwarder stops halving requests if nothing is accepted.
    expect(provider.requests.length).toBeLessThanOrEqual(20 * (failures + 1));
    provider.recover();
    await harness.drained();
    expect(provider.ids).toEqual(idsOf(events));
    expect(await harness.refused()).toEqual([]);
  });
});

it('events of a throttled user are sent later, and none is refused', async () => {
  const spam = items(40, { user_external_id: 'busy' });
  const others = items(30);
  const body = JSON.stringify({ code: 429, throttled_users: { [`${merchant}:busy`]: 31 } });
  provider.faults = [{ status: 429, body }];
  await harness.processed([...spam, ...others], undefined, merchant);
  harness.start();
  await harness.drained();
  expect(provider.ids).toEqual(idsOf([...spam, ...others]));
  expect(await harness.refused()).toEqual([]);
  expect((await harness.provider())[0]!.failures).toBe(0);
});

it('events are skipped if no provider is configured', async () => {
  await harness.processed(items(3));
  harness.start(null);
  await harness.drained();
  expect(provider.requests.length).toBe(0);
});
