import { describe, expect, it } from '@jest/globals';
import { brokenRules } from '../../../../test/support/broken-rules.js';
import type { DomainEvent } from '../../../kernel/aggregate.js';
import { merchantHistory } from './history.js';

const at = '2026-01-02T03:04:05.000Z';
const event = (type: string, data: object = {}): DomainEvent => ({
  type: `merchant.${type}.v1`,
  data: { merchant_id: 'm', ...data },
});
const registered = event('registered', { name: 'Shop', registered_at: at });
const issued = (id: string): DomainEvent =>
  event('key_issued', { key_id: id, sealed_private_key: `sealed ${id}`, issued_at: at });
const revoked = (id: string): DomainEvent => event('key_revoked', { key_id: id, revoked_at: at });
const [suspended, reinstated] = [event('suspended', { at }), event('reinstated', { at })];
const allowed = event('ip_allow_list_set', { cidrs: ['192.0.2.0/24'], at });
const embedding = event('embedding_set', {
  origins: ['https://shop.example'],
  callbacks: ['shop:'],
  shown_as: 'The Shop',
  at,
});

const brokenOf = (...events: readonly DomainEvent[]) => brokenRules(merchantHistory, 'm', events);

describe('the audit of a merchant', () => {
  it('accepts keys in rotation, a suspension, and settings that change', () => {
    const events = [registered, issued('a'), issued('b'), revoked('a'), issued('c'), suspended, reinstated];
    expect(brokenOf(...events, allowed, embedding).filter(Boolean)).toEqual([]);
  });

  it.each<[string, readonly DomainEvent[], string]>([
    ['is registered twice', [registered, registered], 'The merchant is registered already'],
    ['has a key before it is registered', [issued('a')], 'Merchant not found'],
    ['has one key twice', [registered, issued('a'), issued('a')], 'it does not follow'],
    ['has a third key', [registered, issued('a'), issued('b'), issued('c')], '2 private keys are valid'],
    ['loses a key that it never had', [registered, revoked('a')], 'Private key not found'],
    ['loses a key twice', [registered, issued('a'), revoked('a'), revoked('a')], 'it does not follow'],
    ['is suspended twice', [registered, suspended, suspended], 'it does not follow'],
    ['is reinstated without a suspension', [registered, reinstated], 'it does not follow'],
    ['sets the addresses that it has', [registered, allowed, allowed], 'it does not follow'],
    ['sets the pages that it has', [registered, embedding, embedding], 'it does not follow'],
    [
      'is in the stream of another',
      [event('registered', { merchant_id: 'n', name: 'Shop', registered_at: at })],
      'its merchant_id is n, not that of its stream',
    ],
  ])('names the rule that is broken by one that %s', (_what, events, rule) => {
    expect(brokenOf(...events).at(-1)).toContain(rule);
  });
});
