import { afterEach, describe, expect, it } from '@jest/globals';
import { Readable } from 'node:stream';
import { eventually } from '../../../../../test/support/eventually.js';
import { deposit, facts, received, stateAfter } from '../../../../../test/support/exchange/order-fixtures.js';
import { Refusal, type HttpProblem } from '../../../../platform/http/problem.js';
import type { LoadedOrder } from '../../application/order-actions.js';
import type { ExistingOrder } from '../../domain/order.js';
import type { OrderStatus } from '../../domain/order-events.js';
import { OrderStreams } from './order-streams.js';
import type { PayOrder } from './pay-types.js';

const ORDERS = ['a', 'b'].map((digit) => `${digit.repeat(8)}-0000-4000-8000-000000000000`);
const [ORDER = '', OTHER = ''] = ORDERS;
const BOUNDS = {
  max: 4,
  maxPerAddress: 2,
  checkMs: 5,
  heartbeatMs: 3_600_000,
  lifetimeMs: 3_600_000,
};
const stateOf = (id: string, status: OrderStatus = 'pending'): ExistingOrder => {
  const created = { type: 'order.created.v1', data: { ...facts, order_id: id } } as const;
  return { ...stateAfter(created, received(deposit('d', '40'))), status };
};

/** Rows of orders as the read model has them, and how often they were queried. */
class Rows {
  queries = 0;
  known: ReadonlyMap<string, number> = new Map();
  fails = false;
  private readonly rows = new Map<string, LoadedOrder>();

  set(id: string, revision: number, status: OrderStatus): void {
    this.rows.set(id, { revision, state: stateOf(id, status) });
  }

  changedSince(known: ReadonlyMap<string, number>): Promise<ReadonlyMap<string, LoadedOrder>> {
    this.queries += 1;
    this.known = known;
    if (this.fails) return Promise.reject(new Error('the database is unavailable'));
    const changed = [...this.rows].filter(([id, { revision }]) => revision > known.get(id)!);
    return Promise.resolve(new Map(changed));
  }
}

const ENDED = { status: 401, detail: 'The session has ended' };
const refusal = (problem: Partial<HttpProblem>) =>
  expect.objectContaining({ problem: expect.objectContaining(problem) }) as unknown as Error;
const open: OrderStreams[] = [];
afterEach(() => open.splice(0).forEach((streams) => streams.onModuleDestroy()));

function started(bounds: Partial<typeof BOUNDS> = {}, now: () => number = Date.now) {
  const rows = new Rows();
  const streams = new OrderStreams(rows, { ...BOUNDS, ...bounds }, now);
  open.push(streams);
  const follow = (id = ORDER, address = '192.0.2.1', isAllowed = true) =>
    streams.follow({
      orderId: id,
      address,
      revision: 0,
      state: stateOf(id),
      verify: () => (isAllowed ? Promise.resolve() : Promise.reject(new Refusal(ENDED))),
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

describe('streams of orders', () => {
  it('send the present status, then each change, and end with the last status', async () => {
    const { rows, streams, follow } = started();
    const client = new Client(follow());
    await eventually(() => client.statuses.length === 1);
    expect(client.text).toContain('"missing":"60"');
    rows.set(ORDER, 1, 'processing');
    await eventually(() => client.statuses.length === 2);
    rows.set(ORDER, 2, 'completed');
    await eventually(() => client.ended);
    expect(client.statuses).toEqual(['pending', 'processing', 'completed']);
    await eventually(() => streams.count === 0);
  });

  it('send one status of an order that has ended', async () => {
    const { rows, streams } = started();
    const ended = { orderId: ORDER, address: '192.0.2.1', revision: 3, state: stateOf(ORDER, 'expired') };
    const client = new Client(streams.follow({ ...ended, verify: () => Promise.resolve() }));
    await eventually(() => client.ended);
    expect([client.statuses, streams.count, rows.queries]).toEqual([['expired'], 0, 0]);
  });

  it('share one query for all streams, and query nothing without a stream', async () => {
    const { rows, streams, follow } = started();
    const clients = [follow(), follow(), follow(OTHER, '192.0.2.2')].map((body) => new Client(body));
    await eventually(() => rows.queries > 2);
    expect([...rows.known.keys()].sort()).toEqual(ORDERS);
    for (const { body } of clients) body.destroy();
    await eventually(() => streams.count === 0);
    await eventually(() => {
      const before = rows.queries;
      return new Promise<boolean>((resolve) => setTimeout(() => resolve(rows.queries === before), 50));
    });
  });

  it('continue after an outage of the database', async () => {
    const { rows, follow } = started();
    const client = new Client(follow());
    rows.fails = true;
    await eventually(() => rows.queries > 2);
    rows.set(ORDER, 1, 'completed');
    rows.fails = false;
    await eventually(() => client.ended);
    expect(client.statuses.at(-1)).toBe('completed');
  });

  it('are bounded per address, where an IPv6 subscriber is one, and per process', () => {
    const { streams, follow } = started();
    const [first] = [follow(ORDER, '2001:db8::1'), follow(ORDER, '2001:db8::2')];
    expect(() => follow(OTHER, '2001:db8::3')).toThrow(refusal({ status: 429 }));
    new Client(follow(ORDER, '192.0.2.1'));
    new Client(follow(ORDER, '192.0.2.2'));
    expect(() => follow(ORDER, '192.0.2.3')).toThrow(
      refusal({ status: 503, headers: { 'retry-after': '10' } }),
    );
    expect(streams.count).toBe(4);
    new Client(first!).body.destroy();
    return eventually(() => streams.count === 3).then(() => {
      new Client(follow(OTHER, '2001:db8::3'));
      expect(streams.count).toBe(4);
    });
  });

  it('end where the page may not be served any more', async () => {
    const { streams, follow } = started();
    const [served, refused] = [new Client(follow()), new Client(follow(OTHER, '192.0.2.2', false))];
    await eventually(() => refused.ended);
    expect([served.ended, streams.count]).toEqual([false, 1]);
  });

  it('have a heartbeat, which ends streams whose client reads nothing, and a lifetime', async () => {
    let now = 0;
    const { streams, follow } = started({ heartbeatMs: 1000, lifetimeMs: 10_000 }, () => now);
    const client = new Client(follow());
    // Its client reads nothing: the first status is still buffered at the first heartbeat.
    const stalled = follow(OTHER, '192.0.2.2');
    now = 1000;
    await eventually(() => client.text.endsWith(':\n\n') && stalled.destroyed);
    expect(streams.count).toBe(1);
    now = 10_000;
    await eventually(() => client.ended);
  });

  it('end at shutdown, and no new one begins', async () => {
    const { streams, follow } = started();
    const client = new Client(follow());
    streams.onModuleDestroy();
    await eventually(() => client.ended);
    expect(() => follow()).toThrow(refusal({ status: 503 }));
  });
});
