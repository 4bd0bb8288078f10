import type { Command } from 'commander';
import { DomainError } from '../../../kernel/domain-error.js';
import { newId } from '../../../kernel/ids.js';
import { tidy } from '../../../kernel/typed-text.js';
import { type CliContext, cliAction } from '../../../platform/cli/cli-context.js';
import { writes } from '../../../platform/cli/write.js';
import { parseId } from '../../../platform/dto/rules.js';
import { CreateOperator, IssueLoginLink, nextFirstOperator, RemovePasskey } from './operators.commands.js';
import { AccessCommands } from '../merchants/merchants.commands.js';
import { OperatorsView } from '../merchants/directory.view.js';
import { requireOperator, operatorPerson } from './operator.js';

/** Adds `npm run operator -- ...`, which lists and removes passkeys, and creates links to enrol one. */
export function operatorProgram(program: Command, cli: CliContext): void {
  program.description('Lets operators sign in to the console, and removes their passkeys.');
  // The link is for the first administrators, and for a person who has lost all passkeys.
  const link = program
    .command('login-link <email>')
    .description('print a one-time link with which an operator enrols a passkey for the console')
    .option('--name <name>', 'adds the person first, as one of the first two administrators');
  writes(link, cli, async function (context, write, email = '') {
    const { name } = this.opts<{ readonly name?: string }>();
    const operators = context.get(OperatorsView, { strict: false });
    const person = await operators.byEmail(tidy(email));
    if (person?.status === 'disabled')
      throw new DomainError('invalid_transition', 'The operator is disabled');
    if (person === null && name === undefined) throw DomainError.notFound('Operator');
    const access = context.get(AccessCommands, { strict: false });
    // A third operator gets a new id, for which CreateOperator then throws an error.
    const id = person?.id ?? (await nextFirstOperator(access, operators)) ?? newId();
    const first = { name: name ?? '', email, role: 'administrator', is_first: true } as const;
    const command = person === null ? new CreateOperator(id, first) : new IssueLoginLink(id);
    const { login_url = null } = await write(command, null);
    const who = person?.name ?? name;
    const text =
      login_url === null ? `${who} signs in with the identity provider` : `For ${who}, once:\n\n${login_url}`;
    return { text, json: { login_url } };
  });

  program
    .command('passkeys <operator-id>')
    .description('list the passkeys of an operator')
    .action(
      cliAction(cli, async (context, id) => {
        const access = context.get(AccessCommands, { strict: false });
        const state = await access.load(operatorPerson, parseId(id, 'Operator'));
        const { passkeys: all } = requireOperator(state);
        const passkeys = all.map(({ credential_id, transports }) => ({ credential_id, transports }));
        const lines = all.map((each) => `${each.credential_id}  ${each.transports.join(', ')}`);
        return { text: lines.join('\n') || 'No passkeys', json: { passkeys } };
      }),
    );

  const remove = program
    .command('remove-passkey <operator-id> <passkey>')
    .description('refuse a passkey from now on, and end the sessions of the operator');
  writes(remove, cli, async (_, write, id, passkey = '') => {
    await write(new RemovePasskey(parseId(id, 'Operator'), { credential_id: passkey }), null);
    return { text: 'Removed the passkey; the sessions have ended', json: { credential_id: passkey } };
  });
}
