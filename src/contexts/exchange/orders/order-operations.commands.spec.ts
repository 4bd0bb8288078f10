import { describe, expect, it } from '@jest/globals';
import { InMemoryEventStore } from '../../../../test/support/in-memory-event-store.js';
import { at, failed, created } from '../../../../test/support/exchange/order-fixtures.js';
import { systemClock } from '../../../kernel/clock.js';
import { EventCodec } from '../../../platform/event-store/event-codec.js';
import type { ReadOptions } from '../../../platform/event-store/port.js';
import { CommandLoop } from '../../../platform/event-store/command-loop.js';
import { ORDER_EVENTS } from './order.js';
import type { RefundCheck, OrderTransfers } from './order-transfers.service.js';
import { RecordRefund, RecordRefundHandler, type RefundResult } from './order-operations.commands.js';

const TRANSACTION = `0x${'1'.repeat(64)}`;
const REFUSED = /recorded as a refund of order-/;
const UNCHECKED: RefundCheck = { unchecked: 'no node is configured', logIndexes: [] };
const checked = (...logIndexes: readonly number[]): RefundCheck => ({ unchecked: null, logIndexes });

/** A store whose first two readers of a claim continue together, or after a second. */
class StoreOfTwo extends InMemoryEventStore {
  private readonly waiting: (() => void)[] = [];

  override async readStream(stream: string, options?: ReadOptions) {
    const events = await super.readStream(stream, options);
    if (stream.startsWith('refund-') && this.waiting.length < 2)
      await new Promise<void>((resolve) => {
        this.waiting.push(resolve);
        setTimeout(resolve, 1000).unref();
        if (this.waiting.length === 2) for (const release of this.waiting) release();
      });
    return events;
  }
}

/** A process that records refunds of 7; `found` is the result of the chain. */
function refundsWith(store: InMemoryEventStore, found: RefundCheck): (id: string) => Promise<RefundResult> {
  const codec = new EventCodec().register(ORDER_EVENTS.map((type) => ({ type })));
  const loop = new CommandLoop(store, codec);
  const transfers = { checkRefund: async () => found } as unknown as OrderTransfers;
  const handler = new RecordRefundHandler(loop, systemClock, transfers, store);
  const refund = { amount: '7', transaction_hash: TRANSACTION, recipient: null };
  const operation = { id: 'operation', reason: 'refunded', actor: 'ops' };
  return (id) => handler.execute(new RecordRefund(id, refund, operation));
}

async function withOrders(store: InMemoryEventStore): Promise<InMemoryEventStore> {
  for (const id of ['a', 'b', 'c']) {
    const events = [created, failed('deposit_too_low', '7', at)].map(({ type, data }) => ({
      id: crypto.randomUUID(),
      type,
      data: { ...data, order_id: id },
      metadata: {},
    }));
    await store.commit({ appends: [{ stream: `order-${id}`, events, expected: 'no_stream' }] });
  }
  return store;
}

const refundsIn = async (store: InMemoryEventStore): Promise<number> =>
  (await store.readAll(null, 100)).filter(({ type }) => type === 'order.refund_recorded.v1').length;

describe.each([
  ['that is atomic', true],
  ['that is not atomic', false],
])('refunds of one transaction, on a store %s', (_name, atomic) => {
  const open = (): Promise<InMemoryEventStore> => withOrders(new InMemoryEventStore(atomic));

  it('are refused for a second order if the refund of the first order was not checked', async () => {
    const store = await open();
    await refundsWith(store, UNCHECKED)('a');
    await expect(refundsWith(store, UNCHECKED)('b')).rejects.toThrow(REFUSED);
    await expect(refundsWith(store, checked(0, 1))('b')).rejects.toThrow(REFUSED);
    expect(await refundsWith(store, checked(0))('a')).toEqual({ unchecked: null });
    expect(await refundsIn(store)).toBe(1);
  });

  it('are accepted for one order per transfer; unchecked and further refunds are refused', async () => {
    const store = await open();
    await refundsWith(store, checked(0, 1))('a');
    await expect(refundsWith(store, UNCHECKED)('b')).rejects.toThrow(REFUSED);
    await refundsWith(store, checked(0, 1))('b');
    await expect(refundsWith(store, checked(0, 1))('c')).rejects.toThrow(REFUSED);
    expect(await refundsIn(store)).toBe(2);
  });

  it('are accepted for at most one order if a checked and an unchecked refund are recorded at the same time', async () => {
    const store = await withOrders(new StoreOfTwo(atomic));
    const results = await Promise.allSettled([
      refundsWith(store, UNCHECKED)('a'),
      refundsWith(store, checked(0))('b'),
    ]);
    for (const result of results)
      if (result.status === 'rejected') expect(String(result.reason)).toMatch(REFUSED);
    // Claims in separate commits may find each other, and then neither is recorded.
    const recorded = await refundsIn(store);
    expect(atomic ? [1] : [0, 1]).toContain(recorded);
  });

  it('are accepted for two orders if two processes record one transfer each at the same time', async () => {
    const store = await withOrders(new StoreOfTwo(atomic));
    await Promise.all(['a', 'b'].map(refundsWith(store, checked(0, 1))));
    expect(await refundsIn(store)).toBe(2);
  });
});
