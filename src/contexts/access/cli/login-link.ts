import type { INestApplicationContext } from '@nestjs/common';
import { Option, type Command } from 'commander';
import { DomainError } from '../../../kernel/domain-error.js';
import { newId } from '../../../kernel/ids.js';
import { Operations, SHELL, type OperationOutcome } from '../../../platform/operations/operations.js';
import { operate, type Operator, type Outcome } from '../../../platform/operator/operator.js';
import { SCOPES } from '../domain/roles.js';
import { OperatorsView, type OperatorRow } from '../views/operators.js';

interface Options {
  readonly name?: string;
  readonly reason: string;
}

/** `npm run operator -- login-link <email>`: for the first administrators, and for a person who has lost all passkeys. */
export function loginLinkProgram(program: Command, operator: Operator): void {
  program
    .command('login-link <email>')
    .description('print a one-time link with which an operator enrols a passkey for the console')
    .option('--name <name>', 'adds the person first, as one of the first two administrators')
    .addOption(new Option('--reason <text>', 'why, in 3 to 500 characters').default('first login'))
    .action(
      operate(operator, async function (context, email = '') {
        const { name, reason } = this.opts<Options>();
        const person = await context.get(OperatorsView, { strict: false }).byEmail(email.trim());
        if (person?.status === 'disabled')
          throw new DomainError('invalid_transition', 'The operator is disabled');
        if (person === null && name === undefined) throw DomainError.notFound('Operator');
        const done = await request(context, person ?? { name: name!, email }, reason);
        return outcomeOf(person?.name ?? name!, done);
      }),
    );
}

function request(
  context: INestApplicationContext,
  person: OperatorRow | { readonly name: string; readonly email: string },
  reason: string,
): Promise<OperationOutcome> {
  const requester = { ...SHELL, scopes: new Set<string>(SCOPES) };
  const given = { reason, ticket: null, requester, merchantId: null };
  const operations = context.get<Operations>(Operations, { strict: false });
  if ('operatorId' in person)
    return operations.request({
      ...given,
      name: 'operators.issue_login_link',
      subject: { id: person.operatorId, revision: null },
      parameters: {},
    });
  const { name, email } = person;
  return operations.request({
    ...given,
    name: 'operators.create',
    subject: { id: newId(), revision: null },
    parameters: { name, email, role: 'administrator', is_first: true },
  });
}

function outcomeOf(name: string, { operation, result }: OperationOutcome): Outcome {
  if (operation.status === 'pending_approval')
    return {
      text: `Another operator has to approve this: operation ${operation.id}. The approval displays the link.`,
      json: { operation },
    };
  const { login_url = null } = result as { readonly login_url?: string };
  const text =
    login_url === null ? `${name} signs in with the identity provider` : `For ${name}, once:\n\n${login_url}`;
  return { text, json: { operation_id: operation.id, login_url } };
}
