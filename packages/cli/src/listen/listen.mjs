// disburse listen: a receiver for development, which verifies and prints deliveries as they come.
import { ApiError } from '@disburse/sdk';
import { setTimeout as sleep } from 'node:timers/promises';
import { clientOf, dataDirOf, findKeys } from '../credentials.mjs';
import { withField } from '../failures.mjs';
import { nextSignal } from '../signals.mjs';
import { bold, dim, elapsed, printLine, printOn, Problem, step, table } from '../terminal.mjs';
import { TRIGGERS } from '../trigger/triggers.mjs';
import { Unreachable } from '../usage.mjs';
import { DeliveryDesk, greetingOf } from './delivery-desk.mjs';
import { readOptions } from './listen-options.mjs';
import { listen as listenOn } from './webhook-receiver.mjs';

const DESCRIPTION = 'webhooks:listen';
const PROBE_MS = 1000;
const GOODBYE_MS = 5000;

/** Runs until a signal, or until standard output is closed. `commandName` is what a user types to run it. */
export async function listen(values, commandName) {
  const options = { ...readOptions(values), commandName };
  if (options.json) printOn(process.stderr);
  printLine(`\n  ${bold('disburse')} ${dim('a receiver of webhooks, for development')}\n`);
  const merchant = options.secrets.length > 0 ? null : await findMerchant(options);
  const desk = new DeliveryDesk(options);
  const listener = await listenOn(options.port, { post: desk.post, get: () => desk.greeting() });
  try {
    if (merchant === null) await listenOnly(options, listener, desk);
    else await listenAs(merchant, options, listener, desk);
  } finally {
    desk.close();
    await listener.close();
  }
  printLine(`\n  ${dim(desk.summary())}\n`);
}

/** Verifies with secrets it was given, and registers nothing. */
async function listenOnly(options, { url }, desk) {
  const signalled = nextSignal();
  desk.open(options.secrets);
  table([['Receiver', `${url}, registered nowhere`]]);
  invite(options, 'Ctrl-C ends');
  await Promise.race([signalled, desk.readerGone]);
}

/** Registers an endpoint for as long as this command runs. */
async function listenAs(merchant, options, { url }, desk) {
  await removeLeftovers(merchant, options);
  const signalled = nextSignal();
  const endpoint = await register(merchant, options.publicUrl ?? url, options);
  try {
    desk.open([endpoint.signing_secret], endpoint.id);
    printLine();
    table([
      ['Receiver', endpoint.url === url ? url : `${endpoint.url}, which is to lead to ${url}`],
      ['Event types', options.types?.join(', ') ?? 'all'],
      ['Signing secret', endpoint.signing_secret],
    ]);
    invite(options, 'Ctrl-C deletes the endpoint and ends');
    if (options.test) await merchant.webhookEndpoints.test(endpoint.id);
    await Promise.race([signalled, desk.readerGone]);
  } finally {
    printLine();
    await unregister(merchant, endpoint.id);
  }
}

function invite({ forward: to, status, delay, test }, ending) {
  const ways = [
    ...(to ? [`is passed on to ${to.href}`] : []),
    ...(status && !to ? [`gets status ${status}`] : []),
    ...(delay > 0 ? [`waits ${elapsed(delay)} for its response`] : []),
  ];
  printLine(`\n  Waiting for deliveries. ${ending}.`);
  if (ways.length > 0) printLine(`  ${dim(`Each ${ways.join(' and ')}.`)}`);
  else if (!test) printLine(`  ${dim('disburse trigger <type> in another shell sends one.')}`);
  printLine();
}

async function findMerchant(options) {
  let keys = null;
  await step('Service', async () => {
    keys = await findKeys(options);
    if (keys === null) {
      throw new Unreachable(
        `No sandbox is running in ${dataDirOf(options)}. Start one with npm start in another shell, or name the .sandbox folder of one with --data-dir; or name a service with --url, --api-key and --private-key; or only verify, with --secret.`,
      );
    }
    return `running at ${keys.baseUrl}`;
  });
  return clientOf(keys);
}

/** Endpoints of listeners that were killed go first: a merchant may have ten. Those of listeners that live stay. */
async function removeLeftovers(merchant, { remove, publicUrl }) {
  if (remove !== null) await merchant.webhookEndpoints.delete(remove);
  const { data } = await merchant.webhookEndpoints.list();
  const own = data.webhook_endpoints.filter(({ description }) => description === DESCRIPTION);
  const left = await Promise.all(own.map(async (each) => (await isLive(each, publicUrl)) === false));
  for (const { id, url } of own.filter((_each, index) => left[index])) {
    await step('Left behind', async () => {
      await merchant.webhookEndpoints.delete(id);
      return `${url} of an earlier run, deleted`;
    });
  }
}

async function isLive({ id, url }, publicUrl) {
  if (new URL(url).hostname !== '127.0.0.1') return url !== publicUrl;
  const greeting = await fetch(url, { signal: AbortSignal.timeout(PROBE_MS) })
    .then((response) => response.text())
    .catch(() => '');
  // One that is about to register knows no id yet.
  return greeting === greetingOf(id);
}

async function register(merchant, url, { types, commandName }) {
  let endpoint;
  await step('Endpoint', async () => {
    // Endpoints receive the types of orders only where these are listed.
    const event_types = types ?? Object.keys(TRIGGERS);
    const webhook_endpoint = { url, description: DESCRIPTION, event_types };
    const registering = merchant.webhookEndpoints.register({ webhook_endpoint });
    const { data } = await registering.catch(async (error) => {
      throw error instanceof ApiError ? await refusal(merchant, error, commandName) : error;
    });
    endpoint = data.webhook_endpoint;
    return `${endpoint.id}, registered`;
  });
  return endpoint;
}

async function refusal(merchant, { status, errors, detail, requestId }, commandName) {
  if (status !== 422 || !errors.webhook_endpoint) {
    const details = Object.entries(errors).flatMap(([field, all]) =>
      all.map((each) => withField(field, each)),
    );
    const said = details.length > 0 ? details.join('; ') : detail;
    return new Problem(`The service refused the endpoint (${status}): ${said}.\nRequest id: ${requestId}`);
  }
  const { data } = await merchant.webhookEndpoints.list();
  const lines = data.webhook_endpoints.map(({ id, url, description }) =>
    `${id}  ${url}  ${description ?? ''}`.trimEnd(),
  );
  return new Problem(
    `The merchant has ten webhook endpoints, the most there may be:\n\n${lines.join('\n')}\n\nDelete one that is not needed, with its id: ${commandName} --remove <id>`,
  );
}

async function unregister(merchant, id) {
  const gone = merchant.webhookEndpoints.delete(id).then(
    () => true,
    (error) => error.status === 404,
  );
  await step('Endpoint', async () => {
    const isGone = await Promise.race([gone, sleep(GOODBYE_MS, false, { ref: false })]);
    return isGone ? `${id}, deleted` : 'still registered; the next listener deletes it';
  });
}
