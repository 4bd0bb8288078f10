import { CommandBus } from '@nestjs/cqrs';
import { DomainError } from '../../../kernel/domain-error.js';
import { deriveId } from '../../../kernel/ids.js';
import { tidy } from '../../../kernel/typed-text.js';
import { CONFIG, type Config } from '../../../platform/config/config.js';
import { CommandLoop } from '../../../platform/event-store/command-loop.js';
import { currentOperation } from '../../../platform/event-store/current-operation.js';
import { defineOperation, type Get } from '../../../platform/operations/operation-definition.js';
import { SubscriptionProgress } from '../../../platform/projections/subscription-progress.js';
import {
  createOperator,
  knownOperator,
  operatorPerson,
  readRole,
  type OperatorPerson,
  type Passkey,
} from '../domain/operator.js';
import { ROLE_SCOPES, scopesGained, type Scope } from '../domain/roles.js';
import { DIRECTORY_VIEW } from '../views/directory-projection.js';
import { OperatorsView } from '../views/operators.js';
import { LoginLinks } from './console/login-links.js';
import { ConsoleSessionTable } from '../store/console-sessions.js';
import {
  AddPasskey,
  CreateOperator,
  emailInUse,
  RemovePasskey,
  UpdateOperator,
} from './operator-commands.js';

/** One operator alone can approve nothing: the shell adds the first two. Each has a separate id, once in a log. */
const FIRST_OPERATORS = ['1', '2'].map((place) => deriveId('first operator', place));

interface NewPerson {
  readonly name: string;
  readonly email: string;
  readonly role: string;
  /** One of the first, by the shell: there is no second person yet. */
  readonly is_first?: true;
}
interface PersonChange {
  readonly role?: string;
  readonly status?: 'active' | 'disabled';
}

const OPERATOR = {
  subject: 'operator',
  scope: 'operators:write',
  streams: (id: string) => [`operator-${id}`],
} as const;

async function personOf(get: Get, id: string) {
  return knownOperator((await get(CommandLoop).load(operatorPerson, id)).state);
}

/** The scopes that the person would have and does not have now: of one who is disabled, all. */
async function gained({ role, status }: PersonChange, get: Get, id: string): Promise<readonly Scope[]> {
  const person = await personOf(get, id);
  const next = role === undefined ? person.role : readRole(role);
  if (person.status === 'disabled' && status === 'active') return ROLE_SCOPES[next];
  return scopesGained(next, person.role);
}

/** The id of the next of the first two operators; null once two were ever added, in any state. */
export async function nextFirstOperator(get: Get): Promise<string | null> {
  const states = await Promise.all(FIRST_OPERATORS.map((id) => get(CommandLoop).load(operatorPerson, id)));
  const next = FIRST_OPERATORS.find((_, place) => states[place]!.state.status === 'unknown');
  // Others may have been added with an approval.
  return next !== undefined && (await get(OperatorsView).count()) < FIRST_OPERATORS.length ? next : null;
}

function isAdministrator(state: OperatorPerson): boolean {
  return state.status === 'active' && state.role === 'administrator';
}

/** Throws `invalid_transition` where of two administrators one would be left, who could approve nothing. */
async function keepTwoAdministrators(get: Get, id: string, { role, status }: PersonChange): Promise<void> {
  const ends = status === 'disabled' || (role !== undefined && role !== 'administrator');
  const loop = get(CommandLoop);
  if (!ends || !isAdministrator((await loop.load(operatorPerson, id)).state)) return;
  await get(SubscriptionProgress).requireCurrent(DIRECTORY_VIEW);
  let left = 0;
  for (const other of await get(OperatorsView).administrators()) {
    const { state, revision } = await loop.load(operatorPerson, other);
    if (other === id || !isAdministrator(state)) continue;
    // Of two who end each other at the same time one is refused.
    currentOperation()?.expected.set(`operator-${other}`, revision);
    left += 1;
    if (left === 2) return;
  }
  if (left === 1)
    throw new DomainError(
      'invalid_transition',
      'One administrator would be left, who could approve nothing: add another one first',
    );
}

/** With OpenID Connect the person is recognised by the email. */
async function loginOf(get: Get, id: string): Promise<object> {
  if (get<Config>(CONFIG).adminOidcIssuer !== null) return {};
  return { login_url: await get(LoginLinks).issue(id) };
}

export const operatorOperations = [
  defineOperation<NewPerson>({
    ...OPERATOR,
    name: 'operators.create',
    secondPerson: async ({ is_first }) => (is_first ? null : 'before'),
    gives: async ({ role }) => ROLE_SCOPES[readRole(role)],
    check: async (person, get, operatorId) => {
      const { state } = await get(CommandLoop).load(operatorPerson, operatorId);
      createOperator({ ...person, operatorId, at: '' }, state);
      if (person.is_first && (await nextFirstOperator(get)) !== operatorId)
        throw new DomainError('invalid_transition', 'There are operators already: they add others');
      if ((await get(OperatorsView).byEmail(tidy(person.email))) !== null) throw emailInUse();
    },
    execute: async ({ subjectId, parameters }, get) => {
      await get(CommandBus).execute(new CreateOperator(subjectId, parameters));
      return loginOf(get, subjectId);
    },
    // The link is for who approved it, not for who requested it, and of no use once the person signs in.
    repeat: async ({ subjectId }, get, by) => {
      const { passkeys } = await personOf(get, subjectId);
      return by === 'approver' && passkeys.length === 0 ? loginOf(get, subjectId) : {};
    },
  }),
  defineOperation<Record<string, never>>({
    ...OPERATOR,
    name: 'operators.issue_login_link',
    // With the link of another person the shell would itself be a second person.
    secondPerson: async (_, get) =>
      get<Config>(CONFIG).mode === 'sandbox' || (await nextFirstOperator(get)) !== null ? null : 'before',
    gives: async (_, get, id) => ROLE_SCOPES[(await personOf(get, id)).role],
    check: async (_, get, id) => {
      if ((await personOf(get, id)).status === 'disabled')
        throw new DomainError('invalid_transition', 'The operator is disabled');
    },
    execute: async ({ subjectId }, get) => ({ login_url: await get(LoginLinks).issue(subjectId) }),
  }),
  defineOperation<PersonChange>({
    ...OPERATOR,
    name: 'operators.update',
    secondPerson: async (parameters, get, id) =>
      (await gained(parameters, get, id)).length > 0 ? 'before' : null,
    gives: gained,
    execute: async ({ subjectId, parameters }, get) => {
      await keepTwoAdministrators(get, subjectId, parameters);
      await get(CommandBus).execute(new UpdateOperator(subjectId, parameters));
    },
  }),
  defineOperation<{ readonly credential_id: string }>({
    ...OPERATOR,
    name: 'operators.remove_passkey',
    // The device may be lost: what is signed in with it ends, too.
    execute: async ({ subjectId, parameters: { credential_id: id } }, get) => {
      await get(ConsoleSessionTable).endAll(subjectId);
      await get(CommandBus).execute(new RemovePasskey(subjectId, id));
    },
  }),
  // The two that follow are requested by the console for its person (ADR 177).
  defineOperation<Passkey>({
    ...OPERATOR,
    name: 'operators.add_passkey',
    execute: async ({ subjectId, parameters }, get) =>
      void (await get(CommandBus).execute(new AddPasskey(subjectId, parameters))),
  }),
  defineOperation<{ readonly role: string }>({
    ...OPERATOR,
    name: 'operators.lower_role',
    // At the revision of the subject: where a role is lowered in between, this one might raise it.
    check: async ({ role }, get, id) => {
      if ((await gained({ role }, get, id)).length > 0)
        throw new DomainError('forbidden', 'A higher role needs a second person');
    },
    execute: async ({ subjectId, parameters }, get) =>
      void (await get(CommandBus).execute(new UpdateOperator(subjectId, parameters))),
  }),
];
