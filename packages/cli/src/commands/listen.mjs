import { withCredentials } from '../credentials.mjs';
import { listen } from '../listen/listen.mjs';
import { withListenOptions } from '../listen/listen-options.mjs';

const DESCRIPTION = `Receive webhooks on this machine, verify them and print them as they come.

Registers an endpoint of the merchant and deletes it at the end (Ctrl-C).`;

/** `name` is what a user types to run the command. */
export function withListen(program, name = 'disburse listen') {
  const command = program
    .command('listen')
    .summary('receive, verify, print and forward webhooks')
    .description(DESCRIPTION)
    .action((options) => listen(options, name));
  return withCredentials(withListenOptions(command));
}
