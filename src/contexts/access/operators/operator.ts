import { withChanges, type Aggregate, type Changes, type DomainEvent } from '../../../kernel/aggregate.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { readLabel } from '../../../kernel/text.js';
import { tidy } from '../../../kernel/typed-text.js';
import { isRole, ROLES, type Role } from './roles.js';
import { historyRules } from '../../../kernel/history-rules.js';

/** A stored passkey. Its id and public key are in base64url. */
export interface Passkey {
  readonly credential_id: string;
  readonly public_key: string;
  /** The authenticator's counter at the enrolment. */
  readonly counter: number;
  readonly transports: readonly string[];
}

type Event<Type extends string, Data = object> = DomainEvent<
  Type,
  { operator_id: string; at: string } & Data
>;

export type OperatorEvent =
  | Event<'operator.created.v1', { name: string; email: string; role: Role }>
  | Event<'operator.role_set.v1', { role: Role }>
  | Event<'operator.disabled.v1'>
  | Event<'operator.enabled.v1'>
  | Event<'operator.passkey_added.v1', Passkey>
  | Event<'operator.passkey_removed.v1', { credential_id: string }>;

export const OPERATOR_STATUSES = ['active', 'disabled'] as const;
type OperatorStatus = (typeof OPERATOR_STATUSES)[number];

/** The state of `operator-<operator_id>`. Name and email are not personal data (admin-api.md 1). */
export type OperatorPerson = { readonly status: 'unknown' } | Operator;

/** An operator. Without its passkeys, the state is also the row of `access.operators`. */
export interface Operator {
  readonly status: OperatorStatus;
  readonly operator_id: string;
  readonly name: string;
  readonly email: string;
  readonly role: Role;
  readonly created_at: string;
  /** The time of the last disabling in ISO 8601. Enabling does not clear it. */
  readonly disabled_at: string | null;
  readonly passkeys: readonly Passkey[];
}

export const operatorChanges = {
  'operator.created.v1': ({ at: created_at, ...person }) => ({
    ...person,
    ...({ status: 'active', created_at, disabled_at: null, passkeys: [] } as const),
  }),
  'operator.role_set.v1': ({ role }) => ({ role }),
  'operator.disabled.v1': ({ at: disabled_at }) => ({ status: 'disabled', disabled_at }),
  'operator.enabled.v1': () => ({ status: 'active' }),
} satisfies Partial<Changes<Operator, OperatorEvent>>;

export const operatorPerson: Aggregate<OperatorPerson, OperatorEvent> = {
  category: 'operator',
  initial: { status: 'unknown' },
  evolve(state, { type, data }) {
    if (state.status === 'unknown' && type !== 'operator.created.v1') return state;
    const person = state as Operator;
    switch (type) {
      case 'operator.passkey_added.v1': {
        const { operator_id: _, at: __, ...passkey } = data;
        return { ...person, passkeys: [...person.passkeys, passkey] };
      }
      case 'operator.passkey_removed.v1': {
        const { credential_id: id } = data;
        return { ...person, passkeys: person.passkeys.filter((each) => each.credential_id !== id) };
      }
      default:
        return withChanges(operatorChanges, { type, data }, person);
    }
  },
};

const MAX_NAME_LENGTH = 255;
const MAX_EMAIL_LENGTH = 254;
/** The maximum of passkeys per operator, because state and enrolment options list all of them. */
const MAX_PASSKEYS = 20;
const EMAIL = /^[^\s@]+@[^\s@]+$/;

function readEmail(text: string): string {
  const email = readLabel('email', tidy(text), MAX_EMAIL_LENGTH);
  if (!EMAIL.test(email)) throw DomainError.invalid({ email: ['must be an email address'] });
  return email;
}

/** Checks the role of a command or of an audited event. Throws `validation_failed`. */
function readRole(role: string): Role {
  if (!isRole(role)) throw DomainError.invalid({ role: [`must be one of ${ROLES.join(', ')}`] });
  return role;
}

type NewOperator = Readonly<Record<'operator_id' | 'name' | 'email' | 'at', string>> & {
  readonly role: Role;
};

/** Creates an operator; a repeat has no effect, because a retry may follow a crash. */
export function createOperator(command: NewOperator, state: OperatorPerson): OperatorEvent[] {
  const name = readLabel('name', command.name, MAX_NAME_LENGTH);
  const email = readEmail(command.email);
  const role = readRole(command.role);
  if (state.status !== 'unknown') {
    if (state.name === name && state.email === email) return [];
    throw new DomainError('invalid_transition', 'The operator exists already');
  }
  const { operator_id, at } = command;
  return [{ type: 'operator.created.v1', data: { operator_id, name, email, role, at } }];
}

/** A change of an operator; absent members stay unchanged. */
export interface OperatorChange {
  readonly role?: Role | undefined;
  readonly status?: OperatorStatus | undefined;
}

/** Changes role or status. Throws `not_found`, or `validation_failed` on `role`. */
export function updateOperator(
  { change, at }: { change: OperatorChange; at: string },
  state: OperatorPerson,
): OperatorEvent[] {
  const { operator_id, ...former } = requireOperator(state);
  const role = change.role === undefined ? former.role : readRole(change.role);
  const { status = former.status } = change;
  const type = status === 'disabled' ? 'operator.disabled.v1' : 'operator.enabled.v1';
  return [
    ...(role === former.role
      ? []
      : [{ type: 'operator.role_set.v1', data: { operator_id, role, at } } as const]),
    ...(status === former.status ? [] : [{ type, data: { operator_id, at } } as const]),
  ];
}

export function addPasskey(
  { passkey, at }: { passkey: Passkey; at: string },
  state: OperatorPerson,
): OperatorEvent[] {
  const { operator_id, status, passkeys } = requireOperator(state);
  const { credential_id, public_key, counter, transports } = passkey;
  if (passkeys.some((each) => each.credential_id === credential_id)) return [];
  if (status === 'disabled') throw new DomainError('invalid_transition', 'The operator is disabled');
  if (passkeys.length >= MAX_PASSKEYS)
    throw new DomainError('invalid_transition', `The operator has the maximum of ${MAX_PASSKEYS} passkeys`);
  const data = { operator_id, credential_id, public_key, counter, transports, at };
  return [{ type: 'operator.passkey_added.v1', data }];
}

/** Removes a passkey, also of a disabled person. Throws `not_found`. */
export function removePasskey(
  { credential_id, at }: { credential_id: string; at: string },
  state: OperatorPerson,
): OperatorEvent[] {
  const { operator_id, passkeys } = requireOperator(state);
  if (passkeys.every((each) => each.credential_id !== credential_id)) throw DomainError.notFound('Passkey');
  return [{ type: 'operator.passkey_removed.v1', data: { operator_id, credential_id, at } }];
}

export function requireOperator(state: OperatorPerson): Operator {
  if (state.status === 'unknown') throw DomainError.notFound('Operator');
  return state;
}

export const operatorHistory = historyRules(
  operatorPerson,
  {
    'operator.created.v1': createOperator,
    'operator.role_set.v1': ({ role, at }, state) => updateOperator({ change: { role }, at }, state),
    'operator.disabled.v1': ({ at }, state) => updateOperator({ change: { status: 'disabled' }, at }, state),
    'operator.enabled.v1': ({ at }, state) => updateOperator({ change: { status: 'active' }, at }, state),
    'operator.passkey_added.v1': ({ at, ...passkey }, state) => addPasskey({ passkey, at }, state),
    'operator.passkey_removed.v1': removePasskey,
  },
  { id: 'operator_id' },
);
