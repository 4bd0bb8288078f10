import { describe, expect, it } from '@jest/globals';
import { fold } from '../../../kernel/aggregate.js';
import {
  issueKey,
  merchant,
  registerMerchant,
  reinstateMerchant,
  revokeKey,
  setIpAllowList,
  suspendMerchant,
  type Merchant,
  type MerchantEvent,
} from './merchant.js';

const at = '2026-01-02T03:04:05.000Z';
const key = (keyId: string): { keyId: string; sealed: string } => ({ keyId, sealed: `sealed ${keyId}` });

const registered: MerchantEvent = {
  type: 'merchant.registered.v1',
  data: { merchant_id: 'm1', name: 'Acme', registered_at: at },
};
const issued = (keyId: string): MerchantEvent => ({
  type: 'merchant.key_issued.v1',
  data: { merchant_id: 'm1', key_id: keyId, sealed_private_key: `sealed ${keyId}`, issued_at: at },
});
const revoked = (keyId: string): MerchantEvent => ({
  type: 'merchant.key_revoked.v1',
  data: { merchant_id: 'm1', key_id: keyId, revoked_at: at },
});
const suspended: MerchantEvent = { type: 'merchant.suspended.v1', data: { merchant_id: 'm1', at } };
const reinstated: MerchantEvent = { type: 'merchant.reinstated.v1', data: { merchant_id: 'm1', at } };
const allowed = (...cidrs: string[]): MerchantEvent => ({
  type: 'merchant.ip_allow_list_set.v1',
  data: { merchant_id: 'm1', cidrs, at },
});

function given(...history: MerchantEvent[]): {
  when: (decide: (state: Merchant) => MerchantEvent[]) => () => MerchantEvent[];
} {
  return { when: (decide) => () => decide(fold(merchant, history)) };
}

const register =
  (name: string) =>
  (state: Merchant): MerchantEvent[] =>
    registerMerchant({ merchantId: 'm1', name, key: key('k1'), at }, state);
const issue =
  (keyId: string) =>
  (state: Merchant): MerchantEvent[] =>
    issueKey({ key: key(keyId), at }, state);
const revoke =
  (keyId: string) =>
  (state: Merchant): MerchantEvent[] =>
    revokeKey({ keyId, at }, state);
const suspend = (state: Merchant): MerchantEvent[] => suspendMerchant({ at }, state);
const reinstate = (state: Merchant): MerchantEvent[] => reinstateMerchant({ at }, state);
const allow =
  (...cidrs: string[]) =>
  (state: Merchant): MerchantEvent[] =>
    setIpAllowList({ cidrs, at }, state);

const invalidTransition = expect.objectContaining({ code: 'invalid_transition' });
const notFound = expect.objectContaining({ code: 'not_found' });
const invalid = expect.objectContaining({ code: 'validation_failed' });

describe('a merchant', () => {
  it('is registered once, under a name, with a first key', () => {
    expect(given().when(register(' Acme '))()).toEqual([registered, issued('k1')]);
    expect(given(registered).when(register('Acme'))).toThrow(invalidTransition);
    expect(given().when(register('  '))).toThrow(invalid);
    expect(given().when(register('x'.repeat(256)))).toThrow(invalid);
  });

  it('has at most two valid keys', () => {
    expect(given(registered, issued('k1')).when(issue('k2'))()).toEqual([issued('k2')]);
    expect(given(registered, issued('k1'), issued('k2')).when(issue('k3'))).toThrow(invalidTransition);
    expect(given(registered, issued('k1'), issued('k2'), revoked('k1')).when(issue('k3'))()).toEqual([
      issued('k3'),
    ]);
  });

  it('loses a key once, even its last one', () => {
    expect(given(registered, issued('k1')).when(revoke('k1'))()).toEqual([revoked('k1')]);
    expect(given(registered, issued('k1'), revoked('k1')).when(revoke('k1'))()).toEqual([]);
    expect(given(registered, issued('k1')).when(revoke('k9'))).toThrow(notFound);
  });

  it('is suspended and reinstated', () => {
    expect(given(registered).when(suspend)()).toEqual([suspended]);
    expect(given(registered, suspended).when(suspend)()).toEqual([]);
    expect(given(registered, suspended).when(reinstate)()).toEqual([reinstated]);
    expect(given(registered, suspended, reinstated).when(reinstate)()).toEqual([]);
  });

  it('calls from its allow list; an empty list means anywhere', () => {
    expect(given(registered).when(allow('10.0.0.0/8'))()).toEqual([allowed('10.0.0.0/8')]);
    expect(given(registered, allowed('10.0.0.0/8')).when(allow('10.0.0.0/8'))()).toEqual([]);
    expect(given(registered, allowed('10.0.0.0/8')).when(allow())()).toEqual([allowed()]);
  });

  it('must be registered first', () => {
    for (const decide of [issue('k1'), revoke('k1'), suspend, reinstate, allow()]) {
      expect(given().when(decide)).toThrow(notFound);
    }
  });
});
