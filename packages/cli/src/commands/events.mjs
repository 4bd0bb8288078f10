import { accessOf } from '../access.mjs';
import { withCredentials } from '../credentials.mjs';
import { printJson, withJson } from '../json-output.mjs';
import { green, printLine } from '../terminal.mjs';

export function withEvents(program) {
  const events = program
    .command('events')
    .summary('send a webhook again')
    .description('Events that were delivered, or were to be.');
  const resend = events
    .command('resend')
    .argument('<delivery id>', 'the webhook-id of a delivery, as listen prints it')
    .summary('send a delivery again')
    .description(
      'Send a delivery again, in any state, with the whole retry schedule (docs/contract.md 16.2).',
    )
    .action(async (id, options) => {
      const access = await accessOf(options);
      const delivery = await access.resend(id);
      if (options.json) return printJson(delivery);
      const { type, status, webhook_endpoint_id, attempt_count } = delivery;
      printLine(
        `${green('✓')} ${type} ${delivery.id} is ${status} again, for endpoint ${webhook_endpoint_id}`,
      );
      printLine(`  attempts so far: ${attempt_count}`);
    });
  withCredentials(withJson(resend, 'print the delivery as a line of JSON'));
}
