import { describe, expect, it } from '@jest/globals';
import { brokenRules } from '../../../../test/support/broken-rules.js';
import type { DomainEvent } from '../../../kernel/aggregate.js';
import { userHistory } from './user.js';

const at = '2026-01-02T03:04:05.000Z';
const ids = { user_id: 'u', merchant_id: 'm' };
const act = { reason: 'ticket 7', actor: 'ops' };
const created = (over: object = {}): DomainEvent => ({
  type: 'user.created.v1',
  data: { ...ids, external_id: 'e', phone_number: 'sealed', email: 'sealed', created_at: at, ...over },
});
const activated: DomainEvent = {
  type: 'user.activated.v1',
  data: { ...ids, issuer_wallet_address: '0xW', activated_at: at },
};
const started: DomainEvent = { type: 'user.deactivation_started.v1', data: { ...ids, at, ...act } };
const left: DomainEvent = { type: 'user.deactivated.v1', data: { ...ids, at, ...act } };
const erased = (over: object = {}): DomainEvent => ({
  type: 'user.erased.v1',
  data: { ...ids, at, ...act, ...over },
});

const brokenOf = (...events: readonly DomainEvent[]) => brokenRules(userHistory, 'u', events);

describe('the audit of a user', () => {
  it('accepts all events from the creation to the erasure', () => {
    expect(brokenOf(created(), activated, started, left, erased()).filter(Boolean)).toEqual([]);
    expect(brokenOf(created(), started, left).filter(Boolean)).toEqual([]);
  });

  it.each<[string, readonly DomainEvent[], string]>([
    ['is created twice', [created(), created()], 'the user is created once'],
    ['is created after the erasure', [created(), started, left, erased(), created()], 'created once'],
    ['is activated before the creation', [activated], 'User not found'],
    ['is activated twice', [created(), activated, activated], 'it does not follow from what was before it'],
    ['is activated after the deactivation', [created(), started, left, activated], 'cannot become active'],
    ['leaves without a start', [created(), activated, left], 'is not being deactivated'],
    ['starts to leave twice', [created(), started, started], 'it does not follow'],
    ['starts to leave again', [created(), started, left, started], 'The user is deactivated already'],
    ['is erased before the deactivation', [created(), activated, erased()], 'deactivate the user first'],
    ['is erased twice', [created(), started, left, erased(), erased()], 'it does not follow'],
    ['leaves for another reason', [created(), started, { ...left, data: { ...ids, at } }], 'its reason is'],
    [
      'is of another merchant',
      [created(), { ...activated, data: { ...activated.data, merchant_id: 'n' } }],
      'its merchant_id is',
    ],
    ['is in the stream of another', [created({ user_id: 'v' })], 'its user_id is v, not that of its stream'],
  ])('names the rule that is broken by one who %s', (_what, events, rule) => {
    expect(brokenOf(...events).at(-1)).toContain(rule);
  });

  it('stores no personal data in memory', () => {
    const stateAfter = (...events: readonly DomainEvent[]): object =>
      events.reduce(
        (state, event) => userHistory.evaluate(state, event, 'u').state,
        userHistory.initial,
      ) as object;
    expect(stateAfter(created())).toMatchObject({
      account_state: 'onboarding',
      user_id: 'u',
      external_id: null,
      phone_number: '',
      email: null,
    });
    const end = stateAfter(created(), started, left, erased());
    expect(end).toMatchObject({ account_state: 'erased', user_id: 'u', external_id: null });
    expect(end).not.toHaveProperty('phone_number');
    expect(stateAfter()).toEqual({ account_state: 'unknown' });
  });
});
