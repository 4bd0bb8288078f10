import { Option } from 'commander';
import { setTimeout as sleep } from 'node:timers/promises';
import { clientOf, requireKeys, withCredentials } from '../credentials.mjs';
import { printJson, withJson } from '../json-output.mjs';
import { nextSignal } from '../signals.mjs';
import { dim, green, printLine, red, step } from '../terminal.mjs';
import { deliveriesOf } from '../trigger/deliveries.mjs';
import { requireSandbox } from '../trigger/require-sandbox.mjs';
import { pair, setsOf } from '../trigger/sets.mjs';
import { TRIGGERS } from '../trigger/triggers.mjs';
import { Usage } from '../usage.mjs';
import { duration } from '../values.mjs';

const DESCRIPTION = `Make an event happen in the sandbox by the real flow, and print its deliveries.

Users are created and onboarded, USDC is transferred on the dev chain, payouts are reported, orders are created and paid: no event is invented.`;

export function withTrigger(program) {
  const command = program
    .command('trigger')
    .argument('<type>', 'a type of the webhook catalogue')
    .summary('make an event happen in the sandbox')
    .description(DESCRIPTION)
    .option('--set <name=value>', 'a value of what is created; may be given more than once', pair)
    .option('--for <duration>', 'repeat for so long, such as 30s or 5m', duration)
    .addOption(
      new Option('--every <duration>', 'with --for: from one start to the next')
        .argParser(duration)
        .default(1000, '1s'),
    )
    .addHelpText('after', `\nTypes, and the names that --set takes:\n${typeLines()}`)
    .action(trigger);
  withCredentials(withJson(command, 'a line of JSON for each event, with its deliveries'))
    .optionsGroup('Where:')
    .option('--widget-url <url>', 'the onboarding pages, for user.kyc_failed (DISBURSE_WIDGET_URL)')
    .option('--exchange-key <uuid>', 'a key of the exchange, for orders (DISBURSE_EXCHANGE_API_KEY)')
    .option('--exchange-secret <secret>', 'its secret (DISBURSE_EXCHANGE_SECRET)')
    .optionsGroup('Options:');
}

/** Types that happen together are one paragraph. */
function typeLines() {
  const groups = new Map();
  for (const entry of Object.entries(TRIGGERS))
    groups.set(entry[1].run, [...(groups.get(entry[1].run) ?? []), entry]);
  const paragraphs = [...groups.values()].map((group) => {
    const [[, { does, takes }]] = group;
    const names = group.map(([type]) => `  ${type}`).join('\n');
    return `${names}\n      ${does}\n      ${Object.keys(takes).join(', ')}`;
  });
  return paragraphs.join('\n');
}

async function trigger(type, options) {
  if (!Object.hasOwn(TRIGGERS, type))
    throw new Usage(`${type} is no type of the catalogue. There are ${Object.keys(TRIGGERS).join(', ')}.`);
  const { does, takes, run, isForAnyService = false } = TRIGGERS[type];
  const set = setsOf(type, options.set ?? [], takes);
  const keys = await requireKeys(options);
  if (!isForAnyService) await requireSandbox(keys.baseUrl, type);
  const merchant = clientOf(keys);
  const once = () => (options.json ? quietly() : inSteps());
  const happen = async () => {
    const happened = await run({ merchant, keys, set });
    return { ...happened, deliveries: () => deliveriesOf(merchant, type, happened) };
  };
  await once();
  if (options.for !== undefined) await again(options, once);

  async function quietly() {
    const { subject, deliveries } = await happen();
    printJson({ type, ...subject, deliveries: await deliveries() });
  }

  async function inSteps() {
    let happened;
    await step(type, async (note) => {
      note(does);
      happened = await happen();
      return happened.note;
    });
    const deliveries = await happened.deliveries();
    for (const each of deliveries) printLine(deliveryLine(each));
    if (deliveries.length === 0)
      printLine(dim('    No endpoint is subscribed to it. Run disburse listen in another shell.'));
  }
}

/** Repeats until the time is over or a signal arrives. */
async function again({ for: length, every }, once) {
  const began = performance.now();
  const signalled = nextSignal();
  for (let count = 1; count * every < length; count += 1) {
    const rest = began + count * every - performance.now();
    if (rest > 0 && (await Promise.race([signalled, sleep(rest, null)])) !== null) return;
    if (performance.now() - began >= length) return;
    await once();
  }
}

function deliveryLine({ id, url, status, http_status }) {
  if (status === null) return `    ${red('not delivered yet')} ${dim('to')} ${url}`;
  const paint = status === 'succeeded' ? green : red;
  const outcome = status === 'pending' && http_status !== null ? 'will be retried' : status;
  return `    ${dim('→')} ${url} ${paint(http_status ?? 'no response')} ${dim(`${outcome}, delivery ${id}`)}`;
}
