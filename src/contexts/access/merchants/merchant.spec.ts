import { describe, expect, it } from '@jest/globals';
import { givenOf } from '../../../../test/support/given.js';
import {
  merchant,
  registerMerchant,
  reinstateMerchant,
  suspendMerchant,
  updateMerchant,
  type Embedding,
  type Merchant,
  type MerchantEvent,
} from './merchant.js';

const at = '2026-01-02T03:04:05.000Z';

const registered: MerchantEvent = {
  type: 'merchant.registered.v1',
  data: { merchant_id: 'm1', name: 'Acme', registered_at: at },
};
const allowed = (...cidrs: string[]): MerchantEvent => ({
  type: 'merchant.ip_allow_list_set.v1',
  data: { merchant_id: 'm1', cidrs, at },
});
const suspended: MerchantEvent = { type: 'merchant.suspended.v1', data: { merchant_id: 'm1', at } };
const reinstated: MerchantEvent = { type: 'merchant.reinstated.v1', data: { merchant_id: 'm1', at } };
const embedded = (origins: string[], callbacks: string[], shown_as: string | null = null): MerchantEvent => ({
  type: 'merchant.embedding_set.v1',
  data: { merchant_id: 'm1', origins, callbacks, shown_as, at },
});

const given = givenOf(merchant);

const register =
  (name: string) =>
  (state: Merchant): MerchantEvent[] =>
    registerMerchant({ merchant_id: 'm1', name, at }, state);
const suspend = (state: Merchant): MerchantEvent[] => suspendMerchant({ at }, state);
const reinstate = (state: Merchant): MerchantEvent[] => reinstateMerchant({ at }, state);
const embed =
  (change: Partial<Embedding>) =>
  (state: Merchant): MerchantEvent[] =>
    updateMerchant({ change: { embedding: change }, at }, state);

describe('a merchant', () => {
  it('is registered once, with a valid name', () => {
    given().when(register(' Acme ')).then(registered);
    given(registered).when(register('Acme')).then();
    given(registered).when(register('Other')).thenRefused('invalid_transition');
    given().when(register('  ')).thenRefused('validation_failed');
    given()
      .when(register('x'.repeat(256)))
      .thenRefused('validation_failed');
  });

  it('can be restricted to IP addresses; an empty list allows any address', () => {
    const allow =
      (...cidrs: string[]) =>
      (state: Merchant) =>
        updateMerchant({ change: { ip_allow_list: cidrs }, at }, state);
    given(registered).when(allow('10.0.0.0/8')).then(allowed('10.0.0.0/8'));
    given(registered, allowed('10.0.0.0/8')).when(allow('10.0.0.0/8')).then();
    given(registered, allowed('10.0.0.0/8')).when(allow()).then(allowed());
    given(registered).when(allow()).then();
    given().when(allow()).thenRefused('not_found');
  });

  it('can be suspended and reinstated', () => {
    given(registered).when(suspend).then(suspended);
    given(registered, suspended).when(suspend).then();
    given(registered, suspended).when(reinstate).then(reinstated);
    given(registered, suspended, reinstated).when(reinstate).then();
  });

  it('has origins, callbacks and a name for embedded pages; a change leaves omitted fields unchanged', () => {
    const [origins, callbacks] = [['https://shop.example'], ['shopapp:']];
    given(registered).when(embed({ origins })).then(embedded(origins, []));
    given(registered, embedded(origins, []))
      .when(embed({ callbacks, display_name: ' The Shop ' }))
      .then(embedded(origins, callbacks, 'The Shop'));
    given(registered, embedded(origins, callbacks, 'The Shop'))
      .when(embed({ origins: [], callbacks: [] }))
      .then(embedded([], [], 'The Shop'));
    given(registered, embedded(origins, callbacks))
      .when(embed({ callbacks, display_name: null }))
      .then();
    given(registered).when(embed({})).then();
    for (const display_name of ['  ', 'x'.repeat(256)])
      given(registered)
        .when(embed({ display_name }))
        .thenRefused('validation_failed', { shown_as: expect.anything() as unknown as string[] });
  });

  it('cannot be suspended, reinstated or changed before it is registered', () => {
    for (const decide of [suspend, reinstate, embed({})]) given().when(decide).thenRefused('not_found');
  });
});
