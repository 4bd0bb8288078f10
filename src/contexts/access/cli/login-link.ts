import type { Command } from 'commander';
import { DomainError } from '../../../kernel/domain-error.js';
import { newId } from '../../../kernel/ids.js';
import { tidy } from '../../../kernel/typed-text.js';
import type { CliContext } from '../../../platform/cli/cli-context.js';
import { CommandLoop } from '../../../platform/event-store/command-loop.js';
import { writes } from '../../../platform/cli/write.js';
import { CreateOperator, IssueLoginLink, nextFirstOperator } from '../application/operator-commands.js';
import { OperatorsView } from '../views/operators.js';

/** `npm run operator -- login-link <email>`: for the first administrators, and for a person who has lost all passkeys. */
export function loginLinkProgram(program: Command, cli: CliContext): void {
  const command = program
    .command('login-link <email>')
    .description('print a one-time link with which an operator enrols a passkey for the console')
    .option('--name <name>', 'adds the person first, as one of the first two administrators');
  writes(command, cli, async function (context, write, email = '') {
    const { name } = this.opts<{ readonly name?: string }>();
    const operators = context.get(OperatorsView, { strict: false });
    const person = await operators.byEmail(tidy(email));
    if (person?.status === 'disabled')
      throw new DomainError('invalid_transition', 'The operator is disabled');
    if (person === null && name === undefined) throw DomainError.notFound('Operator');
    const loop = context.get(CommandLoop, { strict: false });
    const command =
      person === null
        ? // Refused once there were two.
          new CreateOperator((await nextFirstOperator(loop, operators)) ?? newId(), {
            name: name!,
            email,
            role: 'administrator',
            is_first: true,
          })
        : new IssueLoginLink(person.id);
    const { login_url = null } = await write(command, null);
    const who = person?.name ?? name!;
    const text =
      login_url === null ? `${who} signs in with the identity provider` : `For ${who}, once:\n\n${login_url}`;
    return { text, json: { login_url } };
  });
}
