import type { Command } from 'commander';
import { DomainError } from '../../../kernel/domain-error.js';
import { newId } from '../../../kernel/ids.js';
import { tidy } from '../../../kernel/typed-text.js';
import type { CliContext } from '../../../platform/cli/cli-context.js';
import { writes } from '../../../platform/cli/write.js';
import { nextFirstOperator } from '../application/operator-operations.js';
import { OperatorsView } from '../views/operators.js';

/** `npm run operator -- login-link <email>`: for the first administrators, and for a person who has lost all passkeys. */
export function loginLinkProgram(program: Command, cli: CliContext): void {
  const command = program
    .command('login-link <email>')
    .description('print a one-time link with which an operator enrols a passkey for the console')
    .option('--name <name>', 'adds the person first, as one of the first two administrators');
  writes(command, cli, async function (context, write, email = '') {
    const { name } = this.opts<{ readonly name?: string }>();
    const person = await context.get(OperatorsView, { strict: false }).byEmail(tidy(email));
    if (person?.status === 'disabled')
      throw new DomainError('invalid_transition', 'The operator is disabled');
    if (person === null && name === undefined) throw DomainError.notFound('Operator');
    const { login_url = null } = (await (person === null
      ? write({
          name: 'operators.create',
          // Refused once there were two.
          subject: (await nextFirstOperator((token) => context.get(token, { strict: false }))) ?? newId(),
          merchantId: null,
          parameters: { name: name!, email, role: 'administrator', is_first: true },
        })
      : write({
          name: 'operators.issue_login_link',
          subject: person.operatorId,
          merchantId: null,
        }))) as { readonly login_url?: string };
    const who = person?.name ?? name!;
    const text =
      login_url === null ? `${who} signs in with the identity provider` : `For ${who}, once:\n\n${login_url}`;
    return { text, json: { login_url } };
  });
}
