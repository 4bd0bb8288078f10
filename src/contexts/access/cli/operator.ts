import type { Command } from 'commander';
import { CommandLoop } from '../../../platform/event-store/command-loop.js';
import { cliAction, parseId, type CliContext } from '../../../platform/cli/cli-context.js';
import { writes } from '../../../platform/cli/write.js';
import { RemovePasskey } from '../application/operator-commands.js';
import { knownOperator, operatorPerson } from '../domain/operator.js';
import { loginLinkProgram } from './login-link.js';

/** `npm run operator -- ...`: how persons sign in to the console. */
export function operatorProgram(program: Command, cli: CliContext): void {
  program.description('Lets operators sign in to the console, and removes their passkeys.');
  loginLinkProgram(program, cli);

  program
    .command('passkeys <operator-id>')
    .description('list the passkeys of an operator')
    .action(
      cliAction(cli, async (context, id) => {
        const loop = context.get(CommandLoop, { strict: false });
        const { state } = await loop.load(operatorPerson, parseId(id, 'Operator'));
        const passkeys = knownOperator(state).passkeys.map(({ credential_id, transports }) => ({
          credential_id,
          transports,
        }));
        const lines = passkeys.map(
          ({ credential_id, transports }) => `${credential_id}  ${transports.join(', ')}`,
        );
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
