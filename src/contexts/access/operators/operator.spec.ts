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
  (over: { name?: string; email?: string; role?: string } = {}): Decision =>
  (state) =>
    createOperator(
      { operator_id, name: 'Ada', email: 'Ada@ops.example', role: 'support', ...over, at },
      state,
    );
const update =
  (change: OperatorChange): Decision =>
  (state) =>
    updateOperator({ change, at }, state);
const role = (name: string): Decision => update({ role: name });
const disable = update({ status: 'disabled' });
const enable = update({ status: 'active' });

const created: OperatorEvent = {
  type: 'operator.created.v1',
  data: { operator_id, name: 'Ada', email: 'Ada@ops.example', role: 'support', at },
};
const disabled: OperatorEvent = { type: 'operator.disabled.v1', data: { operator_id, at } };
const enabled: OperatorEvent = { type: 'operator.enabled.v1', data: { operator_id, at } };
const passkey = { credential_id: 'c', public_key: 'p', counter: 0, transports: ['internal'] };
const added: OperatorEvent = { type: 'operator.passkey_added.v1', data: { operator_id, ...passkey, at } };

describe('an operator', () => {
  it('is a person with a name, an email and a role', () => {
    given()
      .when(create({ name: ' Ada ' }))
      .then(created);
    given(created).when(create()).then();
    given(created)
      .when(create({ email: 'b@ops.example' }))
      .thenRefused('invalid_transition');
    for (const [wrong, field] of [
      [{ name: ' ' }, 'name'],
      [{ email: 'ada' }, 'email'],
      [{ email: 'a b@c' }, 'email'],
      [{ role: 'owner' }, 'role'],
    ] as const)
      given()
        .when(create(wrong))
        .thenRefused('validation_failed', { [field]: [expectMessage(field)] });
  });

  it('gets another role', () => {
    given(created)
      .when(role('finance'))
      .then({ type: 'operator.role_set.v1', data: { operator_id, role: 'finance', at } });
    given(created).when(role('support')).then();
    given(created).when(role('owner')).thenRefused('validation_failed');
  });

  it('is disabled and enabled again', () => {
    given(created).when(disable).then(disabled);
    given(created, disabled).when(disable).then();
    given(created, disabled).when(enable).then(enabled);
    given(created).when(enable).then();
  });

  it('gets a role and a status at once; an absent member stays as it is', () => {
    const roleSet: OperatorEvent = {
      type: 'operator.role_set.v1',
      data: { operator_id, role: 'finance', at },
    };
    given(created)
      .when(update({ role: 'finance', status: 'disabled' }))
      .then(roleSet, disabled);
    given(created, disabled)
      .when(update({ status: 'active' }))
      .then(enabled);
    given(created, disabled)
      .when(update({ role: 'finance' }))
      .then(roleSet);
    given(created, disabled).when(update({})).then();
    given().when(update({})).thenRefused('not_found');
  });

  it('enrols passkeys while it is active', () => {
    const add: Decision = (state) => addPasskey({ passkey, at }, state);
    given(created).when(add).then(added);
    given(created, added).when(add).then();
    given(created, disabled).when(add).thenRefused('invalid_transition');
  });

  it('loses a passkey for good, also while it is disabled', () => {
    const remove: Decision = (state) => removePasskey({ credential_id: 'c', at }, state);
    const removed: OperatorEvent = {
      type: 'operator.passkey_removed.v1',
      data: { operator_id, credential_id: 'c', at },
    };
    given(created, added).when(remove).then(removed);
    given(created, added, disabled).when(remove).then(removed);
    given(created, added, removed).when(remove).thenRefused('not_found');
    given(created, added, removed)
      .when((state) => addPasskey({ passkey, at }, state))
      .then(added);
  });

  it('must exist first', () => {
    for (const decide of [role('viewer'), disable, enable]) given().when(decide).thenRefused('not_found');
  });
});

function expectMessage(field: 'name' | 'email' | 'role'): string {
  return {
    name: 'must not be blank',
    email: 'must be an email address',
    role: 'must be one of viewer, support, finance, compliance, on_call, administrator',
  }[field];
}
