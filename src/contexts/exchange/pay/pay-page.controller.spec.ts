import { describe, expect, it } from '@jest/globals';
import {
  completed,
  created,
  deposit,
  facts,
  late,
  processing,
  received,
  refund,
  refunded,
  stateAfter,
  type UnpublishedEvent,
} from '../../../../test/support/exchange/order-fixtures.js';
import { chainConfig } from '../../../platform/config/config.js';
import { payOrder, TestPayments } from './pay-page.controller.js';

describe('an order on the pay page', () => {
  const displayed = (...events: readonly UnpublishedEvent[]) => payOrder(stateAfter(created, ...events), 1);

  it('lists every transaction: deposits, late deposits, the payout and refunds by operators', () => {
    const paid = [received(deposit('a', '40')), received(deposit('b', '60.5'))];
    const ended = [processing('100', '0.5', '0.5'), completed(), late(deposit('c', '7')), refund('7.5')];
    expect(displayed(...paid, ...ended).transfers).toEqual([
      { kind: 'deposit', amount: '40', hash: '0xa' },
      { kind: 'deposit', amount: '60.5', hash: '0xb' },
      { kind: 'late', amount: '7', hash: '0xc' },
      { kind: 'payout', amount: '0.5', hash: '0xout' },
      { kind: 'refund', amount: '7.5', hash: '0xr' },
    ]);
  });

  it('lists a refund by the provider only if the provider names the transaction', () => {
    const exact = received(deposit('a', '100'));
    expect(displayed(exact, refunded('100', '0xrefund')).transfers).toEqual([
      { kind: 'deposit', amount: '100', hash: '0xa' },
      { kind: 'refund', amount: '100', hash: '0xrefund' },
    ]);
    expect(displayed(exact, refunded('100')).transfers).toHaveLength(1);
  });

  it('displays the missing amount, which is never negative', () => {
    expect(displayed().missing).toBe('100');
    expect(displayed(received(deposit('a', '40.25'))).missing).toBe('59.75');
    expect(displayed(received(deposit('a', '101'))).missing).toBe('0');
  });
});

describe('test payments', () => {
  const DEV = chainConfig({});
  const open = stateAfter(created);
  const started = (config: ConstructorParameters<typeof TestPayments>[0] = DEV) => {
    const sent: [string, bigint][] = [];
    const transfer = async (to: string, amount: bigint) => {
      sent.push([to, amount]);
      return '0xhash';
    };
    return { sent, payments: new TestPayments(config, { transfer }) };
  };

  it('pay the missing amount of an order to its deposit address', async () => {
    const { sent, payments } = started();
    await payments.pay(stateAfter(created, received(deposit('d', '40.5'))));
    expect([payments.areOffered, sent]).toEqual([true, [[facts.deposit_address, 59_500_000n]]]);
  });

  it('are not offered in production, on another chain than the dev chain or without test money', async () => {
    const elsewhere = [started({ ...DEV, mode: 'production' }), started({ ...DEV, chainId: 1 })];
    for (const { payments } of [...elsewhere, { payments: new TestPayments(DEV) }]) {
      await expect(payments.pay(open)).rejects.toMatchObject({ code: 'not_found' });
      expect(payments.areOffered).toBe(false);
    }
    expect(elsewhere.flatMap(({ sent }) => sent)).toEqual([]);
  });

  it('are refused for orders of other providers and for orders that are not open', async () => {
    const { sent, payments } = started();
    const elsewhere = payments.pay({ ...open, provider: 'sideshift' });
    await expect(elsewhere).rejects.toMatchObject({ code: 'not_found' });
    for (const status of ['processing', 'completed', 'cancelled', 'expired', 'failed', 'refunded'] as const) {
      const ended = payments.pay({ ...open, status });
      await expect(ended).rejects.toMatchObject({ code: 'invalid_transition' });
    }
    expect(sent).toEqual([]);
  });
});
