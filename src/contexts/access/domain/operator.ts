import type { Aggregate, DomainEvent } from '../../../kernel/aggregate.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { readLabel } from '../../../kernel/text.js';
import { tidy } from '../../../kernel/typed-text.js';
import { isRole, ROLES, type Role } from './roles.js';
import { historyRules } from '../../../kernel/history-rules.js';

/** A passkey as it is stored: its id and public key in base64url. */
export interface Passkey {
  readonly credential_id: string;
  readonly public_key: string;
  /** The authenticator's counter at the enrolment. */
  readonly counter: number;
  readonly transports: readonly string[];
}

export type OperatorEvent =
  | DomainEvent<
      'operator.created.v1',
      { operator_id: string; name: string; email: string; role: Role; at: string }
    >
  | DomainEvent<'operator.role_set.v1', { operator_id: string; role: Role; at: string }>
  | DomainEvent<'operator.disabled.v1', { operator_id: string; at: string }>
  | DomainEvent<'operator.enabled.v1', { operator_id: string; at: string }>
  | DomainEvent<'operator.passkey_added.v1', Passkey & { operator_id: string; at: string }>
  | DomainEvent<'operator.passkey_removed.v1', { operator_id: string; credential_id: string; at: string }>;

/** A person of the operator; the stream is `operator-<operator_id>`. Name and email are not personal data (admin-api.md 1). */
export type OperatorPerson = { readonly status: 'unknown' } | KnownOperator;
export interface KnownOperator {
  readonly status: 'active' | 'disabled';
  readonly operatorId: string;
  readonly name: string;
  readonly email: string;
  readonly role: Role;
  readonly passkeys: readonly Passkey[];
  /** The last time, also of one who was enabled again; ISO 8601. */
  readonly disabledAt: string | null;
}

export const operatorPerson: Aggregate<OperatorPerson, OperatorEvent> = {
  category: 'operator',
  initial: { status: 'unknown' },
  evolve(state, event) {
    if (event.type === 'operator.created.v1') {
      const { operator_id: operatorId, name, email, role } = event.data;
      return { status: 'active', operatorId, name, email, role, passkeys: [], disabledAt: null };
    }
    if (state.status === 'unknown') return state;
    switch (event.type) {
      case 'operator.role_set.v1':
        return { ...state, role: event.data.role };
      case 'operator.disabled.v1':
        return { ...state, status: 'disabled', disabledAt: event.data.at };
      case 'operator.enabled.v1':
        return { ...state, status: 'active' };
      case 'operator.passkey_added.v1': {
        const { credential_id, public_key, counter, transports } = event.data;
        const passkey = { credential_id, public_key, counter, transports };
        return { ...state, passkeys: [...state.passkeys, passkey] };
      }
      case 'operator.passkey_removed.v1': {
        const { credential_id: id } = event.data;
        return { ...state, passkeys: state.passkeys.filter((each) => each.credential_id !== id) };
      }
      default:
        return state;
    }
  },
};

const MAX_NAME_LENGTH = 255;
const MAX_EMAIL_LENGTH = 254;
/** The limit per operator: every passkey is part of the state and is sent with every login. */
const MAX_PASSKEYS = 20;
const EMAIL = /^[^\s@]+@[^\s@]+$/;

/** The email tidied. Throws `validation_failed` on `email`. */
function readEmail(text: string): string {
  const email = readLabel('email', tidy(text), MAX_EMAIL_LENGTH);
  if (!EMAIL.test(email)) throw DomainError.invalid({ email: ['must be an email address'] });
  return email;
}

/** Throws `validation_failed` on `role`. */
export function readRole(text: string): Role {
  if (!isRole(text)) throw DomainError.invalid({ role: [`must be one of ${ROLES.join(', ')}`] });
  return text;
}

interface NewOperator {
  readonly operatorId: string;
  readonly name: string;
  readonly email: string;
  readonly role: string;
  readonly at: string;
}

/** The same again changes nothing: a retry after a crash. */
export function createOperator(command: NewOperator, state: OperatorPerson): OperatorEvent[] {
  const name = readLabel('name', command.name, MAX_NAME_LENGTH);
  const email = readEmail(command.email);
  const role = readRole(command.role);
  if (state.status !== 'unknown') {
    if (state.name === name && state.email === email) return [];
    throw new DomainError('invalid_transition', 'The operator exists already');
  }
  const { operatorId: operator_id, at } = command;
  return [{ type: 'operator.created.v1', data: { operator_id, name, email, role, at } }];
}

export function setRole(command: { role: string; at: string }, state: OperatorPerson): OperatorEvent[] {
  const { operatorId: operator_id, role: former } = knownOperator(state);
  const role = readRole(command.role);
  if (role === former) return [];
  return [{ type: 'operator.role_set.v1', data: { operator_id, role, at: command.at } }];
}

/** Every key and session of the person is refused from now on. */
export function disableOperator({ at }: { at: string }, state: OperatorPerson): OperatorEvent[] {
  const { operatorId: operator_id, status } = knownOperator(state);
  return status === 'disabled' ? [] : [{ type: 'operator.disabled.v1', data: { operator_id, at } }];
}

export function enableOperator({ at }: { at: string }, state: OperatorPerson): OperatorEvent[] {
  const { operatorId: operator_id, status } = knownOperator(state);
  return status === 'active' ? [] : [{ type: 'operator.enabled.v1', data: { operator_id, at } }];
}

/** A change of an operator. Absent members remain. */
export interface OperatorChange {
  readonly role?: string | undefined;
  readonly status?: 'active' | 'disabled' | undefined;
}

/** Updates an operator, all or nothing. Throws `not_found`, or `validation_failed` on `role`. */
export function updateOperator(
  { change: { role, status }, at }: { change: OperatorChange; at: string },
  state: OperatorPerson,
): OperatorEvent[] {
  knownOperator(state);
  const decide = status === 'disabled' ? disableOperator : enableOperator;
  return [
    ...(role === undefined ? [] : setRole({ role, at }, state)),
    ...(status === undefined ? [] : decide({ at }, state)),
  ];
}

/** A repeat changes nothing. */
export function addPasskey(
  { passkey, at }: { passkey: Passkey; at: string },
  state: OperatorPerson,
): OperatorEvent[] {
  const { operatorId: operator_id, status, passkeys } = knownOperator(state);
  if (passkeys.some((each) => each.credential_id === passkey.credential_id)) return [];
  if (status === 'disabled') throw new DomainError('invalid_transition', 'The operator is disabled');
  if (passkeys.length >= MAX_PASSKEYS)
    throw new DomainError('invalid_transition', `The operator has ${MAX_PASSKEYS} passkeys`);
  const { credential_id, public_key, counter, transports } = passkey;
  const data = { operator_id, credential_id, public_key, counter, transports, at };
  return [{ type: 'operator.passkey_added.v1', data }];
}

/** Removes a passkey, also of a disabled person. Throws `not_found`. */
export function removePasskey(
  { credentialId, at }: { credentialId: string; at: string },
  state: OperatorPerson,
): OperatorEvent[] {
  const { operatorId: operator_id, passkeys } = knownOperator(state);
  if (passkeys.every((each) => each.credential_id !== credentialId)) throw DomainError.notFound('Passkey');
  return [{ type: 'operator.passkey_removed.v1', data: { operator_id, credential_id: credentialId, at } }];
}

/** Throws `not_found`. */
export function knownOperator(state: OperatorPerson): KnownOperator {
  if (state.status === 'unknown') throw DomainError.notFound('Operator');
  return state;
}

export const operatorHistory = historyRules(
  operatorPerson,
  {
    'operator.created.v1': ({ operator_id: operatorId, ...data }, state) =>
      createOperator({ ...data, operatorId }, state),
    'operator.role_set.v1': (data, state) => setRole(data, state),
    'operator.disabled.v1': (data, state) => disableOperator(data, state),
    'operator.enabled.v1': (data, state) => enableOperator(data, state),
    'operator.passkey_added.v1': ({ at, ...passkey }, state) => addPasskey({ passkey, at }, state),
    'operator.passkey_removed.v1': ({ credential_id: credentialId, at }, state) =>
      removePasskey({ credentialId, at }, state),
  },
  { id: 'operator_id' },
);
