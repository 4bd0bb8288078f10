import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { withEvents } from './commands/events.mjs';
import { withListen } from './commands/listen.mjs';
import { withLogin } from './commands/login.mjs';
import { withLogs } from './commands/logs.mjs';
import { withOpen } from './commands/open.mjs';
import { withPayouts } from './commands/payouts.mjs';
import { withTrigger } from './commands/trigger.mjs';

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));

const EXAMPLES = `
Examples:
  $ disburse listen --forward http://localhost:8080/webhooks
  $ disburse trigger payout.received --set amount=25.50
  $ disburse payouts list --status expired --json | jq -r .reason
  $ disburse logs tail --status 422

Keys:
  A sandbox that runs in .sandbox of this folder, or of one above, needs none.
  Any other service: DISBURSE_BASE_URL, DISBURSE_API_KEY, DISBURSE_PRIVATE_KEY.
  Without keys, payouts, events and logs use the session of disburse login.

Exit codes:
  0 done   1 refused by the service   2 wrong usage   69 service unreachable

disburse <command> --help explains a command.`;

/** All commands. Errors of usage are thrown, not printed. */
export function programOf() {
  const program = new Command('disburse')
    .description(
      'Receive webhooks on your machine, make events happen in the sandbox, follow payouts and requests.',
    )
    .version(version, '-v, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .usage('<command> [options]')
    .helpCommand(false)
    .configureHelp({ styleTitle: bold, subcommandTerm: termOf })
    .configureOutput({ outputError: () => undefined })
    .exitOverride()
    .addHelpText('after', EXAMPLES);
  program.commandsGroup('Webhooks:');
  withListen(program);
  withTrigger(program);
  withEvents(program);
  program.commandsGroup('Merchant:');
  withPayouts(program);
  withLogs(program);
  withOpen(program);
  program.commandsGroup('Operator:');
  program
    .command('admin')
    .argument('<resource> <verb>')
    .summary('what the admin API can do; disburse admin --help lists it');
  program.commandsGroup('Session:');
  withLogin(program);
  return program;
}

/** commander removes it where there is no colour. */
function bold(text) {
  return `\u001b[1m${text}\u001b[22m`;
}

/** A command with its arguments. */
function termOf(command) {
  const args = command.registeredArguments.map((argument) => `<${argument.name()}>`);
  const children = command.commands.map((each) => each.name());
  return [command.name(), ...args, children.join('|')].join(' ').trim();
}
