import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { Logger } from '@nestjs/common';
import { newId } from '../../../kernel/ids.js';
import { EventStoreUnavailable } from '../../../platform/event-store/port.js';
import type { MerchantProfile } from '../../../platform/http/merchant-directory.js';
import type { HttpResult } from '../../../platform/outbound/outbound-request.js';
import { Sealer } from '../../../platform/sealing/sealer.js';
import type { Log } from '../../../platform/telemetry/logger.js';
import { firstAttemptDelay } from '../webhooks.metrics.js';
import { webhooksConfig } from '../webhooks.config.js';
import type { DisableReason } from '../endpoints/webhook-endpoints.js';
import type { AutomaticDisablingProcessor } from '../endpoints/automatic-disabling.processor.js';
import { DeliverySender } from './delivery-sender.service.js';
import type { AttemptRecord, DeliveryClaim, DeliveryResult, DeliveryTable } from './deliveries.store.js';
import type { Destinations } from '../endpoints/destinations.store.js';
import type { Receivers } from './receivers.service.js';
import { SigningSecrets } from '../endpoints/signing-secrets.store.js';

const NOW = new Date('2026-11-21T12:00:00.000Z');
const place = { endpoint_id: newId(), merchant_id: newId() };
const fixed = { ...place, delivery_id: newId(), type: 'payout.received', body: '{}', is_test: false };
const secrets = new SigningSecrets(new Sealer(randomBytes(32)));
const delivery = {
  ...fixed,
  mac: secrets.toMac(fixed),
  attempts: 3,
  attempts_before: 0,
  created_at: NOW,
  due_at: NOW,
} as unknown as DeliveryClaim;
const responded = (status: number): HttpResult => ({
  kind: 'response',
  status,
  retryAfter: null,
  body: Buffer.alloc(0),
  error: null,
});

describe('a delivery that is due', () => {
  let recorded: DeliveryResult[];
  let received: HttpResult;
  let sender: DeliverySender;
  let gone: DisableReason[];
  let failures: string[];
  let disablingError: Error;
  let forged: string[];
  let posts: number;
  let dueInMs: number | null;
  /** The number of failures before the database accepts a write. */
  let unavailable: number;
  let merchantStatus: MerchantProfile['status'];

  beforeEach(() => {
    recorded = [];
    gone = [];
    failures = [];
    disablingError = new EventStoreUnavailable('no connection');
    forged = [];
    posts = 0;
    merchantStatus = 'active';
    unavailable = 0;
    const destination = {
      url: 'https://receiver.example/',
      status: 'enabled',
      sealed_signing_secret: secrets.create(place),
      former_secrets: [],
    };
    sender = new DeliverySender(
      {
        record: async (result: DeliveryResult) => {
          if (unavailable-- > 0) throw new Error('the database is unavailable');
          recorded.push(result);
        },
      } as unknown as DeliveryTable,
      { load: async () => destination } as unknown as Destinations,
      { find: async () => ({ status: merchantStatus }) as MerchantProfile },
      secrets,
      {
        wideLog: (_message: string, { delivery_id }: DeliveryClaim, level: string) =>
          level === 'error' && forged.push(delivery_id),
      } as unknown as Log,
      {
        disable: async (_endpoint: object, reason: DisableReason) => {
          if (unavailable-- > 0) throw disablingError;
          gone.push(reason);
        },
        attemptFailed: (id: string) => void failures.push(id),
      } as unknown as AutomaticDisablingProcessor,
      { post: () => ((posts += 1), Promise.resolve(received)) } as unknown as Receivers,
      { now: () => NOW },
      { ...webhooksConfig({}), webhookRetryScheduleSeconds: [0, 5, 300, 1800] },
    );
  });

  const failed = (error: string): HttpResult => ({ kind: 'failed', phase: 'connect', error });
  const deliver = async (row = delivery): Promise<AttemptRecord | null | undefined> => {
    let attempt: AttemptRecord | null | undefined;
    dueInMs = await sender.deliver(row, (each) => (attempt = each), false);
    return attempt;
  };

  it.each<[string, Partial<DeliveryClaim>]>([
    ['its MAC is missing', { mac: null }],
    ['its body was changed', { body: '{"amount":"9"}' }],
    ['its endpoint was changed', { endpoint_id: newId() }],
    ['its type was changed', { type: 'payout.failed' }],
    ['it was changed to a test', { is_test: true }],
  ])('is dropped without being signed or sent if %s', async (_name, changed) => {
    received = responded(200);
    expect(await deliver({ ...delivery, ...changed })).toBeNull();
    expect(recorded).toMatchObject([{ state: 'dropped', attempts: 3, attempt: null }]);
    expect([forged, posts]).toEqual([[delivery.delivery_id], 0]);
    expect(await deliver()).toMatchObject({ outcome: 'succeeded' });
  });

  it('has the delay of its first attempt measured, except in the last slot of its endpoint', async () => {
    received = responded(200);
    const first = { ...delivery, attempts: 0 };
    const timed = async (fills: boolean): Promise<number> => {
      await sender.deliver(first, () => undefined, fills);
      return (
        (await firstAttemptDelay.get()).values.find((each) => each.metricName?.endsWith('_count'))?.value ?? 0
      );
    };
    firstAttemptDelay.reset();
    expect([await timed(true), await timed(false)]).toEqual([0, 1]);
  });

  it('is postponed for five minutes without an attempt while its merchant is suspended', async () => {
    received = responded(200);
    merchantStatus = 'suspended';
    expect(await deliver()).toBeNull();
    expect(recorded).toMatchObject([{ state: 'pending', attempts: 3, attempt: null, delay_ms: 300_000 }]);
    expect(posts).toBe(0);
    merchantStatus = 'active';
    expect(await deliver()).toMatchObject({ outcome: 'succeeded' });
  });

  it('has the whole retry schedule again after a resend', async () => {
    received = failed('the connection was refused (ECONNREFUSED)');
    await deliver({ ...delivery, attempts: 4 });
    expect(recorded.at(-1)).toMatchObject({ state: 'exhausted', attempts: 5 });
    for (const attempts of [5, 6, 7, 8]) {
      await deliver({ ...delivery, attempts, attempts_before: 5 });
      expect(recorded.at(-1)).toMatchObject({ state: 'pending', attempts: attempts + 1 });
    }
    await deliver({ ...delivery, attempts: 9, attempts_before: 5 });
    expect(recorded.at(-1)).toMatchObject({ state: 'exhausted', attempts: 10 });
  });

  it('has a failed attempt and is retried if the receiver refuses the connection', async () => {
    received = failed('the connection was refused (ECONNREFUSED)');
    expect(await deliver()).toMatchObject({ outcome: 'retry', failure_phase: 'connect' });
    expect(dueInMs).toBe(recorded[0]!.delay_ms);
    expect(recorded).toMatchObject([{ state: 'pending', attempts: 4 }]);
    expect(failures).toEqual([place.endpoint_id]);
  });

  it.each(['EMFILE', 'ENFILE'])(
    'is postponed without an attempt if this process has no sockets left: %s',
    async (code) => {
      received = failed(code);
      expect(await deliver()).toBeNull();
      expect(recorded).toMatchObject([{ state: 'pending', attempts: 3, attempt: null, delay_ms: 1000 }]);
      expect(failures).toEqual([]);
    },
  );

  it('disables its endpoint after a 410 and is recorded as exhausted', async () => {
    received = responded(410);
    expect(await deliver()).toMatchObject({ outcome: 'gone' });
    expect(recorded).toMatchObject([{ state: 'exhausted', attempts: 4 }]);
    const [attempted_url, attempted_at] = ['https://receiver.example/', NOW.toISOString()];
    expect(gone).toEqual([{ cause: 'gone', delivery_id: delivery.delivery_id, attempted_url, attempted_at }]);
  });

  it('frees its slot after a 410 in an outage of the event store, and disables its endpoint later', async () => {
    unavailable = 1;
    received = responded(410);
    const disabledBefore: number[] = [];
    await sender.deliver(delivery, () => void disabledBefore.push(gone.length), false);
    expect([disabledBefore, gone.length, recorded.length]).toEqual([[0], 1, 1]);
  });

  it('is recorded as exhausted after a 410 even if its endpoint cannot be disabled', async () => {
    jest.spyOn(Logger.prototype, 'warn').mockReturnValueOnce();
    unavailable = 1;
    disablingError = new Error('an event of a newer version');
    received = responded(410);
    await deliver();
    expect([recorded.map(({ state }) => state), gone]).toEqual([['exhausted'], []]);
  });

  it('is recorded after a database outage, with one warning for all waiting deliveries', async () => {
    const warn = jest.spyOn(Logger.prototype, 'warn').mockReset().mockReturnValue();
    received = failed('the connection was refused (ECONNREFUSED)');
    unavailable = 50;
    await Promise.all(Array.from({ length: 25 }, deliver));
    expect(recorded).toHaveLength(25);
    expect(warn.mock.calls).toEqual([
      [{ msg: 'deliveries not recorded yet', err: new Error('the database is unavailable') }],
    ]);
    warn.mockReset();
  });
});
