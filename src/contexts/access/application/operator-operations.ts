import { CommandBus } from '@nestjs/cqrs';
import { DomainError } from '../../../kernel/domain-error.js';
import { CONFIG, type Config } from '../../../platform/config/config.js';
import { CommandLoop } from '../../../platform/event-store/command-loop.js';
import { defineOperation, type Get } from '../../../platform/operations/operation-definition.js';
import { createOperator, knownOperator, operatorPerson, readRole } from '../domain/operator.js';
import { ROLE_SCOPES, scopesGained, type Scope } from '../domain/roles.js';
import { OperatorsView } from '../views/operators.js';
import { LoginLinks } from './console/login-links.js';
import { CreateOperator, emailInUse, UpdateOperator } from './operator-commands.js';

/** One operator alone can approve nothing: the shell adds the first two. */
const FIRST_OPERATORS = 2;

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

/** The scopes that the person would have and does not have now. */
async function gained({ role }: PersonChange, get: Get, id: string): Promise<readonly Scope[]> {
  if (role === undefined) return [];
  const person = knownOperator((await get(CommandLoop).load(operatorPerson, id)).state);
  return scopesGained(readRole(role), person.role);
}

async function isBeginning(get: Get): Promise<boolean> {
  return (await get(OperatorsView).countActive()) < FIRST_OPERATORS;
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
      if (person.is_first && !(await isBeginning(get)))
        throw new DomainError('invalid_transition', 'There are operators already: they add others');
      if ((await get(OperatorsView).byEmail(person.email.trim())) !== null) throw emailInUse();
    },
    execute: async ({ subjectId, parameters }, get) => {
      await get(CommandBus).execute(new CreateOperator(subjectId, parameters));
      // With OpenID Connect the person is recognised by the email.
      if (get<Config>(CONFIG).adminOidcIssuer !== null) return {};
      return { login_url: await get(LoginLinks).issue(subjectId) };
    },
  }),
  defineOperation<Record<string, never>>({
    ...OPERATOR,
    name: 'operators.issue_login_link',
    streams: () => [],
    // With the link of another person the shell would itself be a second person.
    secondPerson: async (_, get) =>
      get<Config>(CONFIG).mode === 'sandbox' || (await isBeginning(get)) ? null : 'before',
    execute: async ({ subjectId }, get) => ({ login_url: await get(LoginLinks).issue(subjectId) }),
  }),
  defineOperation<PersonChange>({
    ...OPERATOR,
    name: 'operators.update',
    secondPerson: async (parameters, get, id) =>
      (await gained(parameters, get, id)).length > 0 ? 'before' : null,
    gives: gained,
    execute: async ({ subjectId, parameters }, get) =>
      void (await get(CommandBus).execute(new UpdateOperator(subjectId, parameters))),
  }),
];
