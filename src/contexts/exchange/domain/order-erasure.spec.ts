import { describe, expect, it } from '@jest/globals';
import {
  at,
  cancelled,
  deposit,
  expired,
  facts,
  made,
  paid,
  processing,
  received,
  stateAfter,
} from '../../../../test/support/order-story.js';
import type { OrderEvent } from './order-events.js';
import { eraseOrder } from './order-erasure.js';

const by = { actor: 'ops', at };
const erased: OrderEvent = {
  type: 'order.personal_data_erased.v1',
  data: { order_id: facts.order_id, key_id: facts.key_id, ...by },
};

describe('the personal data of an order', () => {
  it.each<[string, readonly OrderEvent[]]>([
    ['pending', [made]],
    ['paid', [made, paid]],
    ['processing', [made, received(deposit('a', '100')), processing('100', '0.5')]],
  ])('is not erased while the order is %s', (status, events) => {
    expect(() => eraseOrder(by, stateAfter(...events))).toThrow(`The order is ${status}`);
  });

  it.each([
    ['cancelled', cancelled],
    ['expired', expired],
  ])('is erased once the order is %s; a repeat changes nothing', (_status, end) => {
    expect(eraseOrder(by, stateAfter(made, end))).toEqual([erased]);
    expect(eraseOrder(by, stateAfter(made, end, erased))).toEqual([]);
  });
});
