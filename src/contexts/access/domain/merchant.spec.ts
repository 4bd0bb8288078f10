import { describe, expect, it } from '@jest/globals';
import { streamOf } from '../../../kernel/aggregate.js';
import { givenOf } from '../../../../test/support/given.js';
import {
  merchant,
  registerMerchant,
  reinstateMerchant,
  setEmbedding,
  suspendMerchant,
  type Embedding,
  type Merchant,
  type MerchantEvent,
} from './merchant.js';
import { issueSecret, revokeSecret, setAddresses } from './credential.js';

const at = '2026-01-02T03:04:05.000Z';
const secret = (secretId: string) => ({ secretId, sealed: `sealed ${secretId}` });

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
const embedded = (origins: string[], callbacks: string[], shown_as: string | null = null): MerchantEvent => ({
  type: 'merchant.embedding_set.v1',
  data: { merchant_id: 'm1', origins, callbacks, shown_as, at },
});

const given = givenOf(merchant);

const register =
  (name: string) =>
  (state: Merchant): MerchantEvent[] =>
    registerMerchant({ merchantId: 'm1', name, secret: secret('k1'), at }, state);
const issue =
  (keyId: string) =>
  (state: Merchant): MerchantEvent[] =>
    issueSecret('api_key', { secret: secret(keyId), at }, state);
const revoke =
  (keyId: string) =>
  (state: Merchant): MerchantEvent[] =>
    revokeSecret('api_key', { secretId: keyId, at }, state);
const suspend = (state: Merchant): MerchantEvent[] => suspendMerchant({ at }, state);
const reinstate = (state: Merchant): MerchantEvent[] => reinstateMerchant({ at }, state);
const allow =
  (...cidrs: string[]) =>
  (state: Merchant): MerchantEvent[] =>
    setAddresses('api_key', { cidrs, at }, state);
const embed =
  (change: Partial<Embedding>) =>
  (state: Merchant): MerchantEvent[] =>
    setEmbedding({ change, at }, state);

describe('a merchant', () => {
  it('has a stream of its own', () => {
    expect(streamOf(merchant, 'm1')).toBe('merchant-m1');
  });

  it('is registered once, under a name, with a first key', () => {
    given().when(register(' Acme ')).then(registered, issued('k1'));
    given(registered).when(register('Acme')).thenRefused('invalid_transition');
    given().when(register('  ')).thenRefused('validation_failed');
    given()
      .when(register('x'.repeat(256)))
      .thenRefused('validation_failed');
  });

  it('has at most two valid keys', () => {
    given(registered, issued('k1')).when(issue('k2')).then(issued('k2'));
    given(registered, issued('k1'), issued('k2')).when(issue('k3')).thenRefused('invalid_transition');
    given(registered, issued('k1'), issued('k2'), revoked('k1')).when(issue('k3')).then(issued('k3'));
  });

  it('loses a key once, even its last one', () => {
    given(registered, issued('k1')).when(revoke('k1')).then(revoked('k1'));
    given(registered, issued('k1'), revoked('k1')).when(revoke('k1')).then();
    given(registered, issued('k1')).when(revoke('k9')).thenRefused('not_found');
  });

  it('keeps its other key when one is revoked, so that both count towards the two', () => {
    const keys = [registered, issued('k1'), issued('k2'), revoked('k1')];
    given(...keys)
      .when(revoke('k2'))
      .then(revoked('k2'));
    given(...keys, issued('k3'))
      .when(issue('k4'))
      .thenRefused('invalid_transition');
  });

  it('is suspended and reinstated', () => {
    given(registered).when(suspend).then(suspended);
    given(registered, suspended).when(suspend).then();
    given(registered, suspended).when(reinstate).then(reinstated);
    given(registered, suspended, reinstated).when(reinstate).then();
  });

  it('calls from its allow list; an empty list means anywhere', () => {
    given(registered).when(allow('10.0.0.0/8')).then(allowed('10.0.0.0/8'));
    given(registered, allowed('10.0.0.0/8')).when(allow('10.0.0.0/8')).then();
    given(registered, allowed('10.0.0.0/8')).when(allow()).then(allowed());
  });

  it('is embedded by the origins that are named; what a change does not name stays', () => {
    const [origins, callbacks] = [['https://shop.example'], ['shopapp:']];
    given(registered).when(embed({ origins })).then(embedded(origins, []));
    given(registered, embedded(origins, []))
      .when(embed({ callbacks, shownAs: ' The Shop ' }))
      .then(embedded(origins, callbacks, 'The Shop'));
    given(registered, embedded(origins, callbacks, 'The Shop'))
      .when(embed({ origins: [], callbacks: [] }))
      .then(embedded([], [], 'The Shop'));
    given(registered, embedded(origins, callbacks))
      .when(embed({ callbacks, shownAs: null }))
      .then();
    given(registered).when(embed({})).then();
    for (const shownAs of ['  ', 'x'.repeat(256)])
      given(registered)
        .when(embed({ shownAs }))
        .thenRefused('validation_failed', { shown_as: expect.anything() as unknown as string[] });
  });

  it('must be registered first', () => {
    for (const decide of [issue('k1'), revoke('k1'), suspend, reinstate, allow(), embed({})]) {
      given().when(decide).thenRefused('not_found');
    }
  });
});
