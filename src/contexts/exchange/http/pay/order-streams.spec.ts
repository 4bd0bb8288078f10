import { afterEach, describe, expect, it } from '@jest/globals';
import { Readable } from 'node:stream';
import { eventually } from '../../../../../test/support/eventually.js';
import { order, type MadeOrder } from '../../domain/order.js';
import type { OrderFacts, OrderStatus } from '../../domain/order-events.js';
import type { ChangedOrder } from '../../views/order-changes.js';
import type { PayOrder } from './page-types.js';
import { OrderStreams, type StreamBounds } from './order-streams.js';

const ORDERS = ['a', 'b'].map((digit) => `${digit.repeat(8)}-0000-4000-8000-000000000000`);
const [ORDER = '', OTHER = ''] = ORDERS;
const BOUNDS: StreamBounds = {
  ...{ most: 4, mostPerAddress: 2, pollMs: 5 },
  ...{ heartbeatMs: 3_600_000, lifetimeMs: 3_600_000 },
};
const stateOf = (id: string, status: OrderStatus = 'pending'): MadeOrder => {
  const facts = { order_id: id, amount_from: '100' } as OrderFacts;
  const created = order.evolve(order.initial, { type: 'order.created.v1', data: facts }) as MadeOrder;
  const deposit = { deposit_id: 'd', amount: '40', transaction_hash: '0x1', deposited_at: '2026-01-01' };
  return { ...created, status, deposits: [deposit] };
};

/** Rows of orders as the read model has them, and how often they were looked at. */
class Rows {
  looks = 0;
  asked: ReadonlyMap<string, number> = new Map();
  fails = false;
  private readonly rows = new Map<string, ChangedOrder>();

  set(id: string, revision: number, status: OrderStatus): void {
    this.rows.set(id, { id, revision, state: stateOf(id, status) });
  }

  since(known: ReadonlyMap<string, number>): Promise<readonly ChangedOrder[]> {
    this.looks += 1;
    this.asked = known;
    if (this.fails) return Promise.reject(new Error('the database is away'));
    return Promise.resolve([...this.rows.values()].filter(({ id, revision }) => revision > known.get(id)!));
  }
}

const open: OrderStreams[] = [];
afterEach(() => open.splice(0).forEach((streams) => streams.drain()));

function started(bounds: Partial<StreamBounds> = {}, now: () => number = Date.now) {
  const rows = new Rows();
  const streams = new OrderStreams(rows, { ...BOUNDS, ...bounds }, now);
  open.push(streams);
  const follow = (id = ORDER, address = '192.0.2.1', isAllowed = true) =>
    streams.follow({
      ...{ orderId: id, address, revision: 0, state: stateOf(id) },
      isAllowed: () => Promise.resolve(isAllowed),
    });
  return { rows, streams, follow };
}

/** What a client has read so far. */
class Client {
  text = '';
  ended = false;

  constructor(readonly body: Readable) {
    body.on('data', (chunk: Buffer) => (this.text += chunk.toString()));
    body.on('end', () => (this.ended = true));
  }

  get statuses(): string[] {
    return [...this.text.matchAll(/^data: (.*)$/gm)].map(
      ([, json]) => (JSON.parse(json!) as PayOrder).order.status,
    );
  }
}

const clientOf = (answer: unknown): Client => {
  expect(answer).toBeInstanceOf(Readable);
  return new Client(answer as Readable);
};

describe('orders that are followed', () => {
  it('tell what is known, then each change, and end with the last status', async () => {
    const { rows, streams, follow } = started();
    const client = clientOf(follow());
    await eventually(() => client.statuses.length === 1);
    expect(client.text).toContain('"missing":"60"');
    rows.set(ORDER, 1, 'processing');
    await eventually(() => client.statuses.length === 2);
    rows.set(ORDER, 2, 'completed');
    await eventually(() => client.ended);
    expect(client.statuses).toEqual(['pending', 'processing', 'completed']);
    await eventually(() => streams.count === 0);
  });

  it('of one that has ended there is one word', async () => {
    const { rows, streams } = started();
    const ended = { orderId: ORDER, address: '192.0.2.1', revision: 3, state: stateOf(ORDER, 'expired') };
    const client = clientOf(streams.follow({ ...ended, isAllowed: () => Promise.resolve(true) }));
    await eventually(() => client.ended);
    expect([client.statuses, streams.count, rows.looks]).toEqual([['expired'], 0, 0]);
  });

  it('are looked at together, however many follow them, and not at all when nobody does', async () => {
    const { rows, streams, follow } = started();
    const clients = [follow(), follow(), follow(OTHER, '192.0.2.2')].map(clientOf);
    await eventually(() => rows.looks > 2);
    expect([...rows.asked.keys()].sort()).toEqual(ORDERS);
    for (const { body } of clients) body.destroy();
    await eventually(() => streams.count === 0);
    await eventually(() => {
      const before = rows.looks;
      return new Promise<boolean>((resolve) => setTimeout(() => resolve(rows.looks === before), 50));
    });
  });

  it('survive a database that is away', async () => {
    const { rows, follow } = started();
    const client = clientOf(follow());
    rows.fails = true;
    await eventually(() => rows.looks > 2);
    rows.set(ORDER, 1, 'completed');
    rows.fails = false;
    await eventually(() => client.ended);
    expect(client.statuses.at(-1)).toBe('completed');
  });

  it('are bounded per address, where an IPv6 subscriber is one, and per process', () => {
    const { streams, follow } = started();
    const [first] = [follow(ORDER, '2001:db8::1'), follow(ORDER, '2001:db8::2')];
    expect(follow(OTHER, '2001:db8::3')).toMatchObject({ status: 429 });
    clientOf(follow(ORDER, '192.0.2.1'));
    clientOf(follow(ORDER, '192.0.2.2'));
    expect(follow(ORDER, '192.0.2.3')).toMatchObject({ status: 503, headers: { 'retry-after': '10' } });
    expect(streams.count).toBe(4);
    clientOf(first).body.destroy();
    return eventually(() => streams.count === 3).then(() => {
      clientOf(follow(OTHER, '2001:db8::3'));
      expect(streams.count).toBe(4);
    });
  });

  it('end where the page may not be served any more', async () => {
    const { streams, follow } = started();
    const [served, refused] = [clientOf(follow()), clientOf(follow(OTHER, '192.0.2.2', false))];
    await eventually(() => refused.ended);
    expect([served.ended, streams.count]).toEqual([false, 1]);
  });

  it('have a heartbeat, which ends those that take nothing, and a lifetime', async () => {
    let now = 0;
    const { streams, follow } = started({ heartbeatMs: 1000, lifetimeMs: 10_000 }, () => now);
    const client = clientOf(follow());
    // Nobody reads this one: its first word is still there at the first beat.
    const stalled = follow(OTHER, '192.0.2.2') as Readable;
    now = 1000;
    await eventually(() => client.text.endsWith(':\n\n') && stalled.destroyed);
    expect(streams.count).toBe(1);
    now = 10_000;
    await eventually(() => client.ended);
  });

  it('end at shutdown, and no new one begins', async () => {
    const { streams, follow } = started();
    const client = clientOf(follow());
    streams.drain();
    await eventually(() => client.ended);
    expect(follow()).toMatchObject({ status: 503 });
  });
});
