import { describe, expect, it } from '@jest/globals';
import { brokenRules } from '../../../../test/support/broken-rules.js';
import { givenOf } from '../../../../test/support/given.js';
import { fold, type DomainEvent } from '../../../kernel/aggregate.js';
import {
  activateUser,
  completeDeactivation,
  createUser,
  eraseUser,
  payee,
  startDeactivation,
  user,
  userHistory,
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
const started: UserEvent = { type: 'user.deactivation_started.v1', data: { ...ids, at, ...act } };
const left: UserEvent = { type: 'user.deactivated.v1', data: { ...ids, at, ...act } };
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
  it('is created once, in onboarding without a wallet', () => {
    given()
      .when((state) => createUser(profile, state))
      .then(created);
    expect(fold(user, [created])).toMatchObject({ account_state: 'onboarding', issuer_wallet_address: null });
    given(created)
      .when((state) => createUser(profile, state))
      .then();
  });

  it('becomes active with its wallet only once', () => {
    given(created).when(activate).then(activated);
    given(created, activated).when(activate).then();
    expect(fold(user, [created, activated])).toMatchObject({
      account_state: 'active',
      issuer_wallet_address: wallet,
    });
  });

  it('cannot become active after its deactivation has begun', () => {
    given(created, started).when(activate).thenRefused('invalid_transition');
    given(created, started, left).when(activate).thenRefused('invalid_transition');
  });

  it('can be deactivated while onboarding and while active', () => {
    given(created).when(deactivate).then(started);
    given(created, activated).when(deactivate).then(started);
    given(created, started).when(deactivate).then();
    given(created, started, left).when(deactivate).thenRefused('invalid_transition');
  });

  it('is deactivated when no payout is pending, and not before', () => {
    given(created, activated, started).when(completeWith(null)).thenRefused('unavailable');
    given(created, activated, started).when(completeWith(1)).thenRefused('invalid_transition');
    given(created, activated, started).when(completeWith(0)).then(left);
    given(created, started, left).when(completeWith(0)).then();
    given(created, activated).when(completeWith(0)).thenRefused('invalid_transition');
    expect(fold(user, [created, activated, started, left])).toMatchObject({
      account_state: 'deactivated',
      issuer_wallet_address: wallet,
    });
  });

  it('can be erased after its deactivation, and then accepts no other command', () => {
    const erase = (state: User): UserEvent[] => eraseUser({ ...act, at }, state);
    const gone = [created, activated, started, left];
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

  it('cannot be activated or deactivated before it is created', () => {
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
    const history = [created, activated, started, left];
    const states = history.map((_, index) => fold(payee, history.slice(0, index + 1)).accountState);
    expect(states).toEqual(['onboarding', 'active', 'deactivating', 'deactivated']);
    expect(fold(payee, history)).toMatchObject({ issuerWalletAddress: wallet });
  });
});

const changed = ({ type, data }: UserEvent, over: object): DomainEvent => ({
  type,
  data: { ...data, ...over },
});
const brokenOf = (...events: readonly DomainEvent[]) => brokenRules(userHistory, 'u1', events);

describe('the audit of the events of a user', () => {
  it('accepts all events from the creation to the erasure', () => {
    expect(brokenOf(created, activated, started, left, erased).filter(Boolean)).toEqual([]);
    expect(brokenOf(created, started, left).filter(Boolean)).toEqual([]);
  });

  it.each<[string, readonly DomainEvent[], string]>([
    ['is created twice', [created, created], 'the user is created once'],
    ['is activated before the creation', [activated], 'User not found'],
    ['ends a deactivation that was never started', [created, activated, left], 'expected deactivating'],
    ['starts a deactivation twice', [created, started, started], 'it does not follow'],
    ['is erased twice', [created, started, left, erased, erased], 'it does not follow'],
    ['leaves for another reason', [created, started, changed(left, { reason: 'ticket 8' })], 'its reason is'],
    ['changes the merchant', [created, changed(activated, { merchant_id: 'n' })], 'its merchant_id is'],
    ['has the stream of another user', [changed(created, { user_id: 'v' })], 'its user_id is v, not that of'],
  ])('names the rule that is broken by a user who %s', (_what, events, rule) => {
    expect(brokenOf(...events).at(-1)).toContain(rule);
  });

  it('retains no personal data in memory', () => {
    const stateAfter = (...events: readonly DomainEvent[]): object =>
      events.reduce(
        (state, event) => userHistory.evaluate(state, event, 'u1').state,
        userHistory.initial,
      ) as object;
    expect(stateAfter(created)).toMatchObject({
      account_state: 'onboarding',
      user_id: 'u1',
      external_id: null,
      phone_number: '',
      email: null,
    });
    const end = stateAfter(created, started, left, erased);
    expect(end).toMatchObject({ account_state: 'erased', user_id: 'u1', external_id: null });
    expect(end).not.toHaveProperty('phone_number');
    expect(stateAfter()).toEqual({ account_state: 'unknown' });
  });
});
