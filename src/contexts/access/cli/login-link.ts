import type { Command } from 'commander';
import { DomainError } from '../../../kernel/domain-error.js';
import { operate, type Operator } from '../../../platform/operator/operator.js';
import { LoginLinks } from '../application/console/login-links.js';
import { OperatorsView } from '../views/operators.js';

/** `npm run operator -- login-link <email>`: for the first administrator, and for a person who has lost all passkeys. */
export function loginLinkProgram(program: Command, operator: Operator): void {
  program
    .command('login-link <email>')
    .description('print a one-time link with which an operator enrols a passkey for the console')
    .action(
      operate(operator, async (context, email) => {
        const person = await context.get(OperatorsView, { strict: false }).byEmail(email!.trim());
        if (person === null) throw DomainError.notFound('Operator');
        if (person.status === 'disabled')
          throw new DomainError('invalid_transition', 'The operator is disabled');
        const url = await context.get(LoginLinks, { strict: false }).issue(person.operatorId);
        return {
          text: `For ${person.name}, once:\n\n${url}`,
          json: { operator_id: person.operatorId, login_url: url },
        };
      }),
    );
}
