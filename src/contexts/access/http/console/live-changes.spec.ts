import { describe, expect, it, jest } from '@jest/globals';
import { eventually } from '../../../../../test/support/eventually.js';
import type { EventStore, RecordedEvent } from '../../../../platform/event-store/port.js';
import { STREAM_TIMES } from '../../../../platform/http/event-streams.js';
import { Refusal } from '../../../../platform/http/problem.js';
import { changeOf, LiveChanges } from './live-changes.js';

const MERCHANT = '6a0e7b8e-0000-4000-8000-000000000001';
const event = (stream: string, data: object = {}): RecordedEvent =>
  ({ stream, data, metadata: {} }) as unknown as RecordedEvent;

describe('a live change', () => {
  it.each([
    [event('payout-p1', { merchant_id: MERCHANT }), { kind: 'payout', id: 'p1', merchant_id: MERCHANT }],
    [event('onboarding-u1'), { kind: 'user', id: 'u1', merchant_id: null }],
    [
      event(`webhook_endpoints-${MERCHANT}`, { endpoint_id: 'e1', merchant_id: MERCHANT }),
      { kind: 'webhook_endpoint', id: 'e1', merchant_id: MERCHANT },
    ],
    [event('operation-o1'), { kind: 'operation', id: 'o1', merchant_id: null }],
  ])('says what to read again: %#', (recorded, change) => {
    expect(changeOf(recorded)?.[0]).toEqual(change);
  });

  it('says nothing of streams that no page displays', () => {
    expect(changeOf(event('claim-1'))).toBeNull();
  });
});

describe('pages that are open', () => {
  async function opened(scopes: string[], merchants: string[] | null = null) {
    let give: (events: readonly RecordedEvent[]) => void = () => undefined;
    const close = jest.fn(async () => undefined);
    const batches = {
      async *[Symbol.asyncIterator]() {
        for (;;) yield await new Promise<readonly RecordedEvent[]>((resolve) => (give = resolve));
      },
      close,
    };
    const subscribe = jest.fn(() => batches);
    const store = { head: async () => null, subscribe } as unknown as EventStore;
    const changes = new LiveChanges(store);
    const follower = { operatorId: 'o', scopes: new Set(scopes), merchants };
    const verify = jest.fn(async () => follower.scopes);
    const follow = () => changes.follow({ ...follower, verify });
    const body = follow();
    let text = '';
    body.on('data', (chunk: Buffer) => (text += chunk.toString()));
    await eventually(() => subscribe.mock.calls.length > 0);
    await new Promise((resolve) => setImmediate(resolve));
    return {
      changes,
      body,
      follow,
      verify,
      subscribe,
      close,
      give: (events: RecordedEvent[]) => give(events),
      text: () => text,
    };
  }

  it('get changes of what their person may read, each once in a batch', async () => {
    const page = await opened(['payouts:read']);
    page.give([event('payout-p1'), event('payout-p1'), event('user-u1')]);
    await eventually(() => page.text().includes('event: change'));
    expect(page.text().match(/event: change/g)).toHaveLength(1);
    expect(page.text()).toContain('data: {"kind":"payout","id":"p1","merchant_id":null}');
    page.changes.onModuleDestroy();
  });

  it('get nothing of merchants that their person is not confined to', async () => {
    const page = await opened(['payouts:read'], [MERCHANT]);
    page.give([event('payout-p1', { merchant_id: 'other' }), event('payout-p2', { merchant_id: MERCHANT })]);
    await eventually(() => page.text().includes('p2'));
    expect(page.text()).not.toContain('p1');
    page.changes.onModuleDestroy();
  });

  it('share one tail of the log, which ends with the last of them; a person has four at most', async () => {
    const page = await opened([]);
    const others = [page.follow(), page.follow(), page.follow()];
    expect(page.follow).toThrow(Refusal);
    expect(page.subscribe).toHaveBeenCalledTimes(1);
    for (const each of [page.body, ...others]) each.destroy();
    await eventually(() => page.close.mock.calls.length > 0);
    expect(page.close).toHaveBeenCalledTimes(1);
  });

  it('end with their session, which is verified every second', async () => {
    expect(STREAM_TIMES.checkMs).toBe(1000);
    const page = await opened([]);
    const ended = new Promise((resolve) => page.body.once('end', resolve));
    page.verify.mockRejectedValue(new Refusal({ status: 401, detail: 'ended' }));
    await ended;
  });
});
