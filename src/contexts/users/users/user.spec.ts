import { describe, expect, it } from '@jest/globals';
import { givenOf } from '../../../../test/support/given.js';
import { fold } from '../../../kernel/aggregate.js';
import {
  activateUser,
  completeDeactivation,
  createUser,
  eraseUser,
  payee,
  startDeactivation,
  user,
  type User,
  type UserCreated,
  type UserEvent,
} from './user.js';

const at = '2026-01-02T03:04:05.000Z';
const ids = { user_id: 'u1', merchant_id: 'm1' };
const wallet = '0x52908400098527886E0F7030069857D2E4169EE7';
const profile: UserCreated['data'] = {
  ...ids,
  external_id: 'ext',
  phone_number: '+15550001111',
  email: null,
  created_at: at,
};

const created: UserEvent = { type: 'user.created.v1', data: profile };
const activated: UserEvent = {
  type: 'user.activated.v1',
  data: { ...ids, issuer_wallet_address: wallet, activated_at: at },
};
const act = { reason: 'ticket 7', actor: 'ops' };
const deactivationStarted: UserEvent = {
  type: 'user.deactivation_started.v1',
  data: { ...ids, at, ...act },
};
const deactivated: UserEvent = { type: 'user.deactivated.v1', data: { ...ids, at, ...act } };
const erased: UserEvent = { type: 'user.erased.v1', data: { ...ids, at, ...act } };

const given = givenOf(user);

const activate = (state: User): UserEvent[] =>
  activateUser({ issuer_wallet_address: wallet, activated_at: at }, state);
const deactivate = (state: User): UserEvent[] => startDeactivation({ ...act, at }, state);
const completeWith =
  (pendingPayouts: number | null) =>
  (state: User): UserEvent[] =>
    completeDeactivation({ pendingPayouts, at }, state);

describe('a user', () => {
  it('begins in onboarding, with no wallet', () => {
    given()
      .when((state) => createUser(profile, state))
      .then(created);
    expect(fold(user, [created])).toMatchObject({ account_state: 'onboarding', issuer_wallet_address: null });
  });

  it('is created once', () => {
    given(created)
      .when((state) => createUser(profile, state))
      .then();
  });

  it('becomes active with its wallet, once', () => {
    given(created).when(activate).then(activated);
    given(created, activated).when(activate).then();
    expect(fold(user, [created, activated])).toMatchObject({
      account_state: 'active',
      issuer_wallet_address: wallet,
    });
  });

  it('cannot become active after a deactivation has begun', () => {
    given(created, deactivationStarted).when(activate).thenRefused('invalid_transition');
    given(created, deactivationStarted, deactivated).when(activate).thenRefused('invalid_transition');
  });

  it('is deactivated from onboarding and from active', () => {
    given(created).when(deactivate).then(deactivationStarted);
    given(created, activated).when(deactivate).then(deactivationStarted);
    given(created, deactivationStarted).when(deactivate).then();
    given(created, deactivationStarted, deactivated).when(deactivate).thenRefused('invalid_transition');
  });

  it('is deactivated only once no payout is pending', () => {
    given(created, activated, deactivationStarted).when(completeWith(null)).thenRefused('unavailable');
    given(created, activated, deactivationStarted).when(completeWith(1)).thenRefused('invalid_transition');
    given(created, activated, deactivationStarted).when(completeWith(0)).then(deactivated);
    given(created, deactivationStarted, deactivated).when(completeWith(0)).then();
    given(created, activated).when(completeWith(0)).thenRefused('invalid_transition');
    expect(fold(user, [created, activated, deactivationStarted, deactivated])).toMatchObject({
      account_state: 'deactivated',
      issuer_wallet_address: wallet,
    });
  });

  it('has the reason and the actor of its deactivation', () => {
    expect(fold(user, [created, deactivationStarted, deactivated])).toMatchObject({
      deactivation: { at, reason: 'ticket 7', actor: 'ops' },
    });
  });

  it('is erased once it is deactivated, once, and unknown afterwards', () => {
    const erase = (state: User): UserEvent[] => eraseUser({ ...act, at }, state);
    const gone = [created, activated, deactivationStarted, deactivated];
    given(...gone)
      .when(erase)
      .then(erased);
    given(...gone, erased)
      .when(erase)
      .then();
    for (const early of [gone.slice(0, 1), gone.slice(0, 2), gone.slice(0, 3)])
      given(...early)
        .when(erase)
        .thenRefused('invalid_transition');
    given().when(erase).thenRefused('not_found');
    for (const decide of [activate, deactivate, completeWith(0), (state: User) => createUser(profile, state)])
      given(...gone, erased)
        .when(decide)
        .thenRefused('invalid_transition');
    const state = fold(user, [...gone, erased]);
    expect(state).toMatchObject({ account_state: 'erased', deactivation: act, erasure: { at, ...act } });
    expect(JSON.stringify(state)).not.toContain('+1555');
    expect(fold(payee, [...gone, erased])).toMatchObject({ accountState: 'deactivated' });
  });

  it('must exist', () => {
    for (const decide of [activate, deactivate, completeWith(0)])
      given().when(decide).thenRefused('not_found');
  });
});

describe('a payee', () => {
  it('has the state of the user and no personal data', () => {
    expect(fold(payee, [])).toEqual({ accountState: 'unknown' });
    expect(fold(payee, [created])).toEqual({
      accountState: 'onboarding',
      merchantId: 'm1',
      issuerWalletAddress: null,
    });
    const history = [created, activated, deactivationStarted, deactivated];
    const states = history.map((_, index) => fold(payee, history.slice(0, index + 1)).accountState);
    expect(states).toEqual(['onboarding', 'active', 'deactivating', 'deactivated']);
    expect(fold(payee, history)).toMatchObject({ issuerWalletAddress: wallet });
  });
});
