import { describe, expect, it } from '@jest/globals';
import { facts, received, recordedOf, deposit } from '../../../../test/support/exchange/order-fixtures.js';
import { logOrderEvents } from './order-watch.processor.js';

describe('the log of orders', () => {
  it('logs each event, without the user of the order and its payout address', () => {
    const lines: [string, object][] = [];
    const wideLog = (message: string, fields: object): void => void lines.push([message, fields]);
    const personal = {
      user_id: 'ann',
      caller: 'c0ffee',
      withdraw_address: 'Secret1',
      withdraw_address_tag: 'Secret2',
      withdraw_address_memo: 'Secret3',
    };
    logOrderEvents({ wideLog }, [
      recordedOf({ type: 'order.created.v1', data: { ...facts, ...personal } }),
      recordedOf(received(deposit('a', '40'))),
    ]);
    expect(lines).toEqual([
      [
        'order.created.v1',
        expect.objectContaining({
          order_id: 'o1',
          provider: 'sandbox',
          amount_from: '100',
          request_id: 'req-1',
        }),
      ],
      [
        'order.deposit_received.v1',
        expect.objectContaining({ order_id: 'o1', amount: '40', transaction_hash: '0xa' }),
      ],
    ]);
    for (const value of Object.values(personal)) expect(JSON.stringify(lines)).not.toContain(value);
  });
});
