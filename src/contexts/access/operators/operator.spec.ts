import { describe, it } from '@jest/globals';
import { givenOf } from '../../../../test/support/given.js';
import {
  addPasskey,
  createOperator,
  operatorPerson,
  removePasskey,
  updateOperator,
  type OperatorChange,
  type OperatorEvent,
  type OperatorPerson,
} from './operator.js';

const at = '2026-01-02T03:04:05.000Z';
const operator_id = 'o1';
const given = givenOf(operatorPerson);

type Decision = (state: OperatorPerson) => readonly OperatorEvent[];
const create =
  (over: { name?: string; email?: string } = {}): Decision =>
  (state) =>
    createOperator(
      { operator_id, name: 'Ada', email: 'Ada@ops.example', role: 'support', ...over, at },
      state,
    );
const update =
  (change: OperatorChange): Decision =>
  (state) =>
    updateOperator({ change, at }, state);
const disable = update({ status: 'disabled' });
const enable = update({ status: 'active' });
const beFinance = update({ role: 'finance' });
const passkey = { credential_id: 'c', public_key: 'p', counter: 0, transports: ['internal'] };
const add: Decision = (state) => addPasskey({ passkey, at }, state);
const remove: Decision = (state) => removePasskey({ credential_id: 'c', at }, state);

const created: OperatorEvent = {
  type: 'operator.created.v1',
  data: { operator_id, name: 'Ada', email: 'Ada@ops.example', role: 'support', at },
};
const roleSet: OperatorEvent = { type: 'operator.role_set.v1', data: { operator_id, role: 'finance', at } };
const disabled: OperatorEvent = { type: 'operator.disabled.v1', data: { operator_id, at } };
const enabled: OperatorEvent = { type: 'operator.enabled.v1', data: { operator_id, at } };
const added: OperatorEvent = { type: 'operator.passkey_added.v1', data: { operator_id, ...passkey, at } };
const removed: OperatorEvent = {
  type: 'operator.passkey_removed.v1',
  data: { operator_id, credential_id: 'c', at },
};

describe('an operator', () => {
  it('is created with a name and an email address', () => {
    given()
      .when(create({ name: ' Ada ' }))
      .then(created);
    given(created).when(create()).then();
    given(created)
      .when(create({ email: 'b@ops.example' }))
      .thenRefused('invalid_transition');
    given(created)
      .when(create({ name: 'Bob' }))
      .thenRefused('invalid_transition');
    for (const [wrong, fields] of [
      [{ name: ' ' }, { name: ['must not be blank'] }],
      [{ email: 'ada' }, { email: ['must be an email address'] }],
      [{ email: 'a b@c' }, { email: ['must be an email address'] }],
    ] as const)
      given().when(create(wrong)).thenRefused('validation_failed', fields);
  });

  it('can get a new role, a new status or both in one change; an omitted field stays unchanged', () => {
    given(created).when(beFinance).then(roleSet);
    given(created, roleSet).when(beFinance).then();
    given(created).when(disable).then(disabled);
    given(created, disabled).when(disable).then();
    given(created, disabled).when(enable).then(enabled);
    given(created, disabled).when(beFinance).then(roleSet);
    given(created)
      .when(update({ role: 'finance', status: 'disabled' }))
      .then(roleSet, disabled);
    given(created, disabled).when(update({})).then();
  });

  it('can enrol a passkey only while active', () => {
    given(created).when(add).then(added);
    given(created, added).when(add).then();
    given(created, disabled).when(add).thenRefused('invalid_transition');
  });

  it('can have a passkey removed, even while disabled, and can enrol the same passkey again', () => {
    given(created, added).when(remove).then(removed);
    given(created, added, disabled).when(remove).then(removed);
    given(created, added, removed).when(remove).thenRefused('not_found');
    given(created, added, removed).when(add).then(added);
  });

  it('cannot be changed before it is created', () => {
    for (const decide of [beFinance, disable, enable, add, remove, update({})])
      given().when(decide).thenRefused('not_found');
  });
});
